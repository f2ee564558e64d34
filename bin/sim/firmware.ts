import type { ArmReason } from './arming.ts';
import type { AutoMode } from './auto.ts';
import type { Handler } from './commands.ts';
import type { Craft } from './craft.ts';
import type { EscapeModes } from './failsafe.ts';
import type { GuidedMode } from './guided.ts';
import type { Mission } from './mission.ts';
import type { FlightMode, Modes, ModeWords } from './modes.ts';
import type { ParamDialect } from './param-dialect.ts';
import type { ParamTable } from './params.ts';
import type { StreamPlan } from './streams.ts';
import type { Sender } from './telemetry.ts';
import type { TelemetryView } from './telemetry-view.ts';

/** The flight modes of a vehicle, and which of them play a part that the link asks for by another name. */
export interface ModeSet extends EscapeModes {
  readonly all: readonly FlightMode[];
  /** Where MAV_CMD_DO_REPOSITION flies to its target. */
  readonly guided: GuidedMode;
  /** Where SET_POSITION_TARGET_GLOBAL_INT counts. */
  readonly offboard: GuidedMode;
  /** What MAV_CMD_NAV_TAKEOFF climbs in. */
  readonly takeoff: { readonly number: number; takeOff(height: number): void };
  readonly auto: AutoMode;
}

/** The sentences of a firmware's STATUSTEXTs. */
export interface Words extends ModeWords {
  readonly armed: string;
  disarmed(cause: 'command' | 'landing'): string;
  reason(reason: ArmReason, mode: string): string;
  /** What is said of an arming that is refused. */
  armRefused(reasons: readonly string[]): readonly string[];
  /** The regular report of a check that fails; undefined: there is none. */
  preArm(reason: string): string | undefined;
  readonly missionReceived: string | undefined;
  readonly positionFound: readonly string[];
}

/** Everything in which one autopilot's firmware differs from another's, as far as the link can see it. */
export interface Firmware {
  /** MAV_AUTOPILOT. */
  readonly autopilot: number;
  /** MAV_TYPE. */
  readonly type: number;
  /** False for what drives or swims: it needs no takeoff and has no height. */
  readonly flies: boolean;
  /** MAV_PROTOCOL_CAPABILITY, without the FTP bit. */
  readonly capabilities: number;
  /** AUTOPILOT_VERSION.flight_sw_version and the first eight bytes of the git hash. */
  readonly version: number;
  readonly gitHash: string;
  /** Sent on MAV_CMD_DO_SEND_BANNER, and with a parameter list where `bannerWithParams` says so. */
  readonly banner: readonly string[];
  readonly bannerWithParams: boolean;
  readonly params: ParamTable;
  readonly paramDialect: ParamDialect;
  /** Sequence number of the first mission item that is not home. */
  readonly firstItem: 0 | 1;
  /** Whether a stored mission is there again after a reboot. */
  readonly keepsMission: boolean;
  readonly streams: StreamPlan;
  readonly senders: ReadonlyMap<number, Sender>;
  readonly commands: ReadonlyMap<number, Handler>;
  /** What the SET_MODE message means as MAV_CMD_DO_SET_MODE (parameters 2 and 3), and the number it is acknowledged under. */
  setMode(customMode: number): { readonly ack: number; readonly params: readonly number[] };
  /** The only MAV_FRAME that a COMMAND_INT may have, whatever the command; undefined: each command looks for itself. */
  readonly intFrame: number | undefined;
  /** The MAV_FRAME that a COMMAND_LONG's altitude is in. */
  readonly longFrame: number;
  /** What FTP answers to a read without an open file. */
  readonly ftpNotOpen: number;
  /** Whether `@PARAM/param.pck` is there. */
  readonly paramFile: boolean;
  /** Mode number at boot where the command line says none. */
  readonly initialMode: number;
  readonly words: Words;
  /** Whether it says as events what keeps it from arming. */
  readonly events: boolean;
  /** Behind every text: PX4 marks so what it also says as an event. */
  readonly textEnd: string;
  /** @param modes gives the modes once they stand, for one that goes over into another */
  modes(craft: Craft, mission: Mission, modes: () => Modes): ModeSet;
  /** The members of the heartbeat that depend on the state. */
  heartbeat(view: TelemetryView): { readonly baseMode: number; readonly systemStatus: number };
}
