import { lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import { isObject, type JsonObject } from '../member.ts';

/** The files with an operator's signals to the connector: of the same user on the same machine. */
export interface OperatorFiles {
  readonly directory: string;
  /** Renewed every second by `svc operator hold`. */
  readonly presence: string;
  /** The operator's Ed25519 key, and the public half that the connector trusts. */
  readonly key: string;
  readonly publicKey: string;
  /** Calls that wait for a signature, and the signatures. */
  readonly pending: string;
  readonly signed: string;
  /** Socket of the person who stands by and signs flight (shared/rpc/operator.ts). */
  readonly holdSocket: string;
}

/** @param env `SVC_OPERATOR_DIR`, else below the home directory */
export function operatorFiles(env: Readonly<Record<string, string | undefined>>): OperatorFiles {
  const directory = env['SVC_OPERATOR_DIR'] ?? join(homedir(), '.svc', 'operator');
  return {
    directory,
    presence: join(directory, 'presence.json'),
    key: join(directory, 'key.pem'),
    publicKey: join(directory, 'key.pub'),
    pending: join(directory, 'pending'),
    signed: join(directory, 'signed'),
    holdSocket: join(directory, 'hold.sock'),
  };
}

/** Socket of the person who has been shown one call. @throws Error for a code that is none */
export function confirmSocket({ directory }: OperatorFiles, code: string): string {
  if (!CODE_PATTERN.test(code)) throw new Error('a code is eight letters and digits');
  return join(directory, `confirm-${code}.sock`);
}

/** The code under which a call waits for a person. */
export const CODE_PATTERN = /^[A-HJKMNP-Z2-9]{8}$/;
const MAX_BYTES = 64 * 1024;

/**
 * A file that only its owner, who must be this user or root, may write; null if there is none. @throws Error naming the
 * problem: a file that others own or can write is not a valid signal
 */
export function readOwnFile(path: string): string | null {
  let found: ReturnType<typeof lstatSync>;
  try {
    found = lstatSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const uid = process.getuid?.();
  if (!found.isFile() || found.size > MAX_BYTES) throw new Error(`${path} is not a plain file`);
  if (uid !== undefined && found.uid !== uid && found.uid !== 0)
    throw new Error(`${path} belongs to another user`);
  if ((found.mode & 0o022) !== 0) throw new Error(`${path} can be written by others`);
  return readFileSync(path, 'utf8');
}

export function readOwnJson(path: string): JsonObject | null {
  const text = readOwnFile(path);
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error(`${path} is not a JSON object`);
  return value;
}
