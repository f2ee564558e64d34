import { type ApiError, ERRORS, type ErrorCode } from '../../shared/errors.ts';
import { listOf, memberOf } from '../../shared/member.ts';

/**
 * A refusal of the node in the words of the command line: the API's own sentences name headers, routes and members of a body,
 * which are for programs. Pure.
 */

/** Instead of the sentences of the catalogue. A sentence of the place that refused stands as it is, but for its routes and flags. */
const BY_CODE: Partial<Readonly<Record<ErrorCode, string>>> = {
  E_UNAUTHENTICATED:
    'This node is paired. Give its pairing key with --key, or in the variable SVC_KEY; svc pair has printed it.',
  E_METHOD: 'This node cannot do that: it has another version than this command line.',
  E_CALIBRATION: 'The vehicle does not do that now.',
  E_EXTENSION: 'The extension cannot be taken as it is.',
  E_MISSION_REJECTED:
    'The vehicle did not take the list over. See what it holds now: svc mission get --refresh.',
  E_HEADERS_TOO_LARGE: 'The request is larger than this node accepts.',
  E_RATE_LIMITED: 'Too many requests. Wait a moment, then try again.',
  E_LOCKED: 'Locked after too many failures. Wait some minutes, then try again.',
  E_PIC_HELD: 'Somebody else is pilot in command. See svc gs pic.',
};

/** What the API calls by a route, as a command; longer routes before those that they begin with. */
export const COMMAND_OF_ROUTE: readonly (readonly [route: string, command: string])[] = [
  ['PUT /api/params/descriptions', 'svc params describe FILE'],
  ['GET /api/config/schema', 'svc config schema'],
  ['GET /api/v1/ground-station/drones', 'svc gs drones'],
  ['GET /api/v1/system/update', 'svc update status'],
  ['DELETE /api/wfb/pair?device_id=', 'svc radio unpair '],
  ['GET /api/wfb/pair', 'svc radio pairs'],
  ['GET /api/wfb', 'svc radio status'],
  ['GET /api/peripherals', 'svc peripherals'],
  ['GET /api/vision/models', 'svc vision models'],
  ['PUT /api/vision/detector', 'svc vision detector'],
];

/** @param flags the names of those that the command has */
export function personWords(error: ApiError, flags: ReadonlySet<string>): string {
  const isCatalogue = error.message === ERRORS[error.code][1];
  let text = (isCatalogue ? (violationsOf(error) ?? BY_CODE[error.code]) : undefined) ?? error.message;
  for (const [route, command] of COMMAND_OF_ROUTE) text = text.replaceAll(route, command);
  if (isCatalogue && error.code === 'E_ARMED')
    text = `The vehicle is armed, or its state is unknown. ${flags.has('force') ? 'Land it if it flies and disarm it, or repeat with --force if you are sure.' : 'Land it if it flies, and disarm it first.'}`;
  if (flags.has('force')) text = text.replace('Repeat with force ', 'Repeat with --force ');
  if (flags.has('allow-far')) text = text.replace('allow_far: true', '--allow-far');
  if (flags.has('manual')) text = text.replace('Say manual: true', 'Repeat with --manual');
  if (flags.has('stop-hotspot')) text = text.replace('stop_hotspot', '--stop-hotspot');
  return text;
}

/** More of them say the same again. */
const MAX_NAMED = 5;

/** What does not fit, each by its place; null if the answer does not say. */
function violationsOf({ extras }: ApiError): string | null {
  const all = listOf(extras['errors']).map(
    (each) => `${String(memberOf(each, 'path'))} ${String(memberOf(each, 'message'))}`.trim(), // no path: the whole body
  );
  if (all.length === 0) return null;
  const more = all.length - MAX_NAMED;
  return `${all.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}
