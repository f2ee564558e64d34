/** How clients name themselves for the rule of the pilot in command (docs/contract/ground.md#pilot-in-command). */

/** A WebSocket, which a browser opens without headers, has `?client_id=` instead. */
export const CLIENT_ID_HEADER = 'x-svc-client-id';
export const CLIENT_ID_PATTERN = '^[A-Za-z0-9._:-]{1,64}$';

/** Anybody may end a flight, whoever is pilot in command. */
const ENDING: ReadonlySet<string> = new Set(['disarm', 'land', 'rtl', 'stop']);

/** @param command as a caller wrote it */
export function endsFlight(command: string): boolean {
  return ENDING.has(command.trim().toLowerCase());
}

/**
 * What takes energy out of a vehicle is sent whether or not anything is heard of it, and whether or not it can be written down: landing
 * must not wait for a good line down, nor for a disk.
 */
export function takesEnergyOut(command: string): boolean {
  return endsFlight(command) || command === 'killSwitch';
}

const CLIENT_ID = new RegExp(CLIENT_ID_PATTERN);

export function isClientId(text: string | null | undefined): text is string {
  return typeof text === 'string' && CLIENT_ID.test(text);
}
