import { ApiError } from '../../../shared/errors.ts';
import { modeName, modeNumber } from '../../../shared/flight/modes.ts';
import { modeOfCommand, modeOfFlags, modeOfOrder, needsSticks } from '../../../shared/flight/stick-modes.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT, ITEM_COMMAND_AT } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Part } from '../part.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { flies } from './maneuvers.ts';

/** A radio that has not been heard for longer is in nobody's hand. */
const HEARD_S = 1;
const HEARD_MS = 1000;
/** It has to have said lately that it stands. */
const LANDED_S = 5;
/** MAV_SYS_STATUS_SENSOR_RC_RECEIVER: ArduPilot repeats the channels of a radio that it has lost, and says so here. */
const RC_RECEIVER = 0x1_00_00;
const SET_MODE = 11;
const STICK_MESSAGES: ReadonlySet<number> = new Set([69, 70]); // MANUAL_CONTROL, RC_CHANNELS_OVERRIDE

interface StickRuleOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  /** Whether a client of the node sends sticks. */
  readonly isSteered: () => boolean;
}

/**
 * In the air nobody chooses a mode in which the vehicle falls or drifts without sticks (docs/contract/flight.md#commands), unless somebody
 * has them: the pilot's radio, or sticks that come by way of this node.
 */
export class StickRule implements Part {
  readonly #options: StickRuleOptions;
  readonly #payload = new Payload();
  #stationAt = -Infinity;

  constructor(options: StickRuleOptions) {
    this.#options = options;
  }

  onForwarded({ id }: Frame): void {
    if (STICK_MESSAGES.has(id)) this.#stationAt = this.#options.clock.now();
  }

  /** @param wanted as a caller wrote it @param manual he says that a pilot has sticks @throws ApiError E_STICKS */
  demand(wanted: string, manual: boolean): void {
    const { family } = this.#options.vehicle;
    const number = family === null ? null : modeNumber(family, wanted);
    if (number === null || manual) return;
    const mode = modeName(family, number);
    if (this.#isRefused(mode)) throw refusalOf(mode, `mode ${mode}`);
  }

  /** The same of a mission, which is flown later, in the air. @throws ApiError E_STICKS with the `index` of the item */
  demandItems(items: readonly MissionItem[], manual: boolean): void {
    if (manual) return;
    const { family } = this.#options.vehicle;
    for (const [index, { command, param1, param2, param3 }] of items.entries()) {
      const mode = modeOfCommand(family, command, [param1, param2, param3]);
      if (mode !== null && this.#isRefused(mode, true))
        throw refusalOf(mode, `item ${index}, mode ${mode}`, index);
    }
  }

  /** Whether a frame chooses no such mode. MAVLink has no `manual`. */
  allows(frame: Frame): boolean {
    const { family } = this.#options.vehicle;
    const isItem = frame.id === MSG.MISSION_ITEM || frame.id === MSG.MISSION_ITEM_INT;
    const isCommand = frame.id === MSG.COMMAND_LONG || frame.id === MSG.COMMAND_INT;
    if (!isItem && !isCommand && frame.id !== SET_MODE) return true;
    const payload = this.#payload.load(frame);
    if (frame.id === SET_MODE) {
      const mode = modeOfFlags(family, payload.u8(5), payload.u32(0));
      return mode === null || !this.#isRefused(mode);
    }
    const params = [payload.f32(0), payload.f32(4), payload.f32(8)];
    const mode = isItem
      ? modeOfCommand(family, payload.u16(ITEM_COMMAND_AT), params)
      : modeOfOrder(family, payload.u16(COMMAND_AT), params);
    return mode === null || !this.#isRefused(mode, isItem);
  }

  /** @param later it is not for now: where the vehicle is does not count */
  #isRefused(mode: string, later = false): boolean {
    const { vehicle } = this.#options;
    if (
      !needsSticks(vehicle.family, mode) ||
      !flies({ family: vehicle.family, type: vehicle.telemetry.mav_type, mode })
    )
      return false;
    return (later || this.#isAirborne) && !this.#hasSticks;
  }

  get #isAirborne(): boolean {
    const { vehicle, guard } = this.#options;
    if (guard.mayChange('stickless_mode', vehicle.known?.system ?? null, false)) return false;
    const { landed_state: landed, ages } = vehicle.telemetry;
    return landed !== 'on_ground' || (ages.landed_state ?? Infinity) > LANDED_S;
  }

  get #hasSticks(): boolean {
    const { vehicle, clock, isSteered } = this.#options;
    if (isSteered() || clock.now() - this.#stationAt <= HEARD_MS) return true;
    const { rc, ages } = vehicle.telemetry;
    const { sensors } = vehicle;
    const isLost =
      sensors !== null && (sensors.enabled & RC_RECEIVER) !== 0 && (sensors.health & RC_RECEIVER) === 0;
    return rc.channels !== null && (ages.rc ?? Infinity) <= HEARD_S && !isLost;
  }
}

function refusalOf(mode: string, what: string, index?: number): ApiError {
  return new ApiError(
    'E_STICKS',
    `${what}: it needs sticks, and no pilot's radio is heard: without them the vehicle falls or drifts. Say manual: true if a pilot holds one.`,
    { mode, ...(index === undefined ? {} : { index }), override: { body: { manual: true } } },
  );
}
