import { messageOf } from './errors.ts';
import { readOwn } from './files/private-file.ts';
import { MAX_SLOTS } from './rpc/radio-unit.ts';

/** The slots of a ground station with several drones (docs/contract.md 7.2); slot 0 is the single drone. */

/** UDP ports where a ground station's radio hands over what comes from slot 0; slot s has the port + s. */
export const RADIO_PORTS = { mavlink: 14_550, video: 5600 } as const;

const OTHERS_WRITE = 0o022;

/**
 * The slot whose drone svc-link and svc-video listen to, from `active-drone.json`: `{"version":1,"slot":<n>}`. It is 0 where none
 * was chosen, or the file cannot be used.
 * @param onProblem told why the file cannot be used
 */
export async function readActiveSlot(file: string, onProblem: (sentence: string) => void): Promise<number> {
  try {
    const text = await readOwn(file, OTHERS_WRITE, 1024);
    if (text === null) return 0;
    const { version, slot } = JSON.parse(text) as { readonly version?: unknown; readonly slot?: unknown };
    if (version === 1 && Number.isInteger(slot) && Number(slot) >= 0 && Number(slot) < MAX_SLOTS)
      return Number(slot);
    throw new Error('it is not of version 1');
  } catch (error) {
    onProblem(`${file} cannot be used: ${messageOf(error)}. The drone in slot 0 is the active one.`);
    return 0;
  }
}
