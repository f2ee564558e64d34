import { ApiError } from '../../../shared/errors.ts';
import type { Encoder } from '../encode.ts';
import { type Exchange, RESULT_ACCEPTED } from '../exchange.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { Context, Sender } from './sender.ts';

// MAV_CMD
const DO_SET_MISSION_CURRENT = 224;
const MISSION_START = 300;
const AUTO_MISSION = 'AUTO.MISSION';

interface MissionParts {
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly exchange: Exchange;
  readonly sender: Sender;
}

/** Items 0 to 0 stand for the whole mission. Both firmwares change the mode themselves, and PX4 arms besides. */
export async function missionStart(
  { vehicle, sender }: MissionParts,
  context: Context,
): Promise<number | null> {
  if (vehicle.firmware !== 'px4') return sender.long(context, MISSION_START, []);
  const before = vehicle.telemetry.mode === AUTO_MISSION ? vehicle.telemetry.mission.current : null;
  return sender.long(context, MISSION_START, [], {
    onAccepted: () => vehicle.noteArmed(),
    underway: () => {
      const { mode, mission } = vehicle.telemetry;
      const item = mode === AUTO_MISSION ? (mission.current ?? 0) : 0;
      return item > 0 && (before === null || item < before);
    },
  });
}

/**
 * @param seq as the vehicle counts. PX4 has no command for it, only MISSION_SET_CURRENT, which gets no ack: its progress shows
 *   whether it did it.
 * @throws ApiError E_BAD_REQUEST
 */
export async function setCurrent(
  { encoder, exchange, sender, vehicle }: MissionParts,
  context: Context,
  seq: number,
): Promise<number | null> {
  const { firstItem: first } = vehicle;
  const { total } = vehicle.telemetry.mission;
  if (seq < first || (total !== null && seq >= first + total)) {
    const items =
      total === null
        ? `the items of its mission begin with ${first}`
        : total === 0
          ? 'its mission has no items'
          : `its mission has the items ${first} to ${first + total - 1}`;
    const home = seq < first ? `item ${seq} is the vehicle's home, and ` : '';
    throw new ApiError('E_BAD_REQUEST', `missionSetCurrent: ${home}${items}.`);
  }
  if (vehicle.firmware !== 'px4') {
    return sender.long(context, DO_SET_MISSION_CURRENT, [seq]);
  }
  const { target } = context;
  const there = (): boolean => vehicle.telemetry.mission.current === seq;
  const result = await exchange.run({
    ...sender.job(context, DO_SET_MISSION_CURRENT, [seq, 0, 0, 0, 0, 0, 0]),
    underway: there,
    encode: () => encoder.missionSetCurrent(target, seq),
  });
  return there() ? RESULT_ACCEPTED : result;
}
