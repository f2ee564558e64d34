import type { ArmingHabits } from '../flight/arming.ts';
import type { Craft } from '../flight/craft.ts';
import type { BeginLog } from '../flight/flight-log.ts';
import type { Mission } from '../flight/mission.ts';
import type { ModeSet } from '../flight/mode-set.ts';
import type { FlightMode, Modes } from '../flight/modes.ts';
import type { RadioHabits } from '../flight/radio.ts';
import type { Calibration, CalibrationTools } from '../mavlink/calibration.ts';
import type { Channel } from '../mavlink/channel.ts';
import type { CommandDialect } from '../mavlink/commands.ts';
import type { LogDialect } from '../mavlink/log-link.ts';
import type { MissionLink, MissionLinkOptions } from '../mavlink/mission-link.ts';
import type { StreamDialect } from '../mavlink/streams.ts';
import type { TelemetryFacts } from '../mavlink/telemetry-view.ts';
import type { VehicleEvents } from '../mavlink/vehicle-events.ts';
import type { ParamDialect } from '../params/param-dialect.ts';
import type { Param, ParamTable } from '../params/params.ts';

/** Everything in which one autopilot's firmware differs from another's, as far as the link can see it. */
export interface Firmware extends ArmingHabits, CommandDialect, StreamDialect, TelemetryFacts {
  /** False for what drives or swims: it needs no takeoff and has no height. */
  readonly flies: boolean;
  /** MAV_PROTOCOL_CAPABILITY, without the FTP bit. */
  readonly capabilities: number;
  /** Sent on MAV_CMD_DO_SEND_BANNER, and with a parameter list where `bannerWithParams` says so. */
  readonly banner: readonly string[];
  readonly params: ParamTable;
  readonly paramDialect: ParamDialect;
  /** Sequence number of the first mission item that is not home. */
  readonly firstItem: 0 | 1;
  /** Whether a stored mission is there again after a reboot. */
  readonly keepsMission: boolean;
  /** What FTP answers to a read without an open file. */
  readonly ftpNotOpen: number;
  /** Whether `@PARAM/param.pck` is there. */
  readonly paramFile: boolean;
  /** How its logs are fetched. */
  readonly logs: LogDialect;
  readonly beginLog: BeginLog;
  /** Mode number at boot where the command line says none. */
  readonly initialMode: number;
  /** The mission protocol, for all three lists. */
  missions(options: Omit<MissionLinkOptions, 'dialect'>): MissionLink;
  calibration(tools: CalibrationTools): Calibration;
  readonly radio: RadioHabits;
  /** Says as events what keeps it from arming; undefined: as texts. @param bootMs since it booted @param params those it has */
  readonly events:
    | ((channel: Channel, bootMs: () => number, params: () => readonly Param[]) => VehicleEvents)
    | undefined;
  /** Texts go only to a link with a ground station. */
  readonly textsForStations: boolean;
  /** Behind every text: PX4 marks so what it also says as an event. */
  readonly textEnd: string;
  /** PX4 goes back to the newest mode of these when it disarms (UserModeIntention::onDisarm); undefined: the mode stays. */
  readonly lasts: ((mode: FlightMode) => boolean) | undefined;
  /** @param modes gives the modes once they stand, for one that goes over into another */
  modes(craft: Craft, mission: Mission, modes: () => Modes): ModeSet;
}
