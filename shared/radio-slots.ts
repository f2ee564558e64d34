import type { FromSchema } from 'json-schema-to-ts';
import { messageOf } from './errors.ts';
import { JsonFile, OTHERS_WRITE } from './json-file.ts';
import type { JsonSchema } from './schemas/json-schema.ts';
import { MAX_SLOTS } from './schemas/radio-unit.ts';
import { fileValidatorOf } from './schemas/validator.ts';

/** The slots of a ground station with several drones (docs/contract/ground.md#binding); slot 0 is the single drone. */

/** UDP ports where a ground station's radio hands over what comes from slot 0; slot s has the port + s. */
export const RADIO_PORTS = { mavlink: 14_550, video: 5600 } as const;

export interface ActiveChoice {
  /** Null: no drone is listened to until one is chosen. */
  readonly slot: number | null;
  /** Null: whichever is in the slot. */
  readonly deviceId: string | null;
}

const SCHEMA = {
  type: 'object',
  required: ['version', 'slot'],
  properties: {
    version: { const: 1 },
    slot: { type: ['integer', 'null'], minimum: 0, maximum: MAX_SLOTS - 1 },
    device_id: { type: ['string', 'null'], maxLength: 64 },
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(SCHEMA);

/** `active-drone.json` */
export function activeDroneFile(path: string): JsonFile<FromSchema<typeof SCHEMA>> {
  return new JsonFile(path, validate, { mode: 0o600, forbidden: OTHERS_WRITE });
}

/**
 * Which drone svc-link and svc-video listen to, from `active-drone.json`; null where none was chosen yet, which means the one in
 * slot 0. With a file that cannot be used it is nobody.
 * @param onProblem told why the file cannot be used
 */
export async function readActiveChoice(
  file: string,
  onProblem: (sentence: string) => void,
): Promise<ActiveChoice | null> {
  try {
    const found = await activeDroneFile(file).read();
    return found && { slot: found.slot, deviceId: found.device_id ?? null };
  } catch (error) {
    onProblem(`${file} cannot be used: ${messageOf(error)}. No drone is the active one until one is chosen.`);
    return { slot: null, deviceId: null };
  }
}

/** As `readActiveChoice`, the slot alone. */
export async function readActiveSlot(
  file: string,
  onProblem: (sentence: string) => void,
): Promise<number | null> {
  const choice = await readActiveChoice(file, onProblem);
  return choice === null ? 0 : choice.slot;
}
