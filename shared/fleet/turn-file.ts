import { JsonFile } from '../json-file.ts';
import { fileValidatorOf } from '../schemas/validator.ts';
import { type TurnGrant, turnGrant } from './hub-api.ts';

const isGrant = fileValidatorOf(turnGrant);

/** What the node's hub last gave it for TURN servers, as svc-control keeps it for svc-video (0600). */
export function turnFile(path: string): JsonFile<TurnGrant> {
  return new JsonFile<TurnGrant>(path, isGrant, { mode: 0o600 });
}
