import {
  type CommandAck,
  decodeCommandAck,
  decodeFtp,
  decodeParamValue,
  type FtpMessage,
  type ParamValue,
} from '../../../shared/mavlink/decode.ts';
import { type CalibrationMessage, decodeCalibration } from '../../../shared/mavlink/decode-calibration.ts';
import {
  decodeEvent,
  decodeEventSequence,
  decodeMetadataUri,
  type VehicleEvent,
} from '../../../shared/mavlink/decode-flight.ts';
import {
  decodeLogData,
  decodeLogEntry,
  type LogData,
  type LogEntry,
} from '../../../shared/mavlink/decode-logs.ts';
import {
  decodeMission,
  decodeMissionIds,
  type MissionIds,
  type MissionMessage,
} from '../../../shared/mavlink/decode-mission.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Payload } from '../../../shared/mavlink/payload.ts';

/** What the autopilot says to parts of the link, besides its state. */
interface VehicleMessageMap {
  readonly ack: CommandAck;
  readonly param: ParamValue;
  readonly ftp: FtpMessage;
  readonly event: VehicleEvent;
  readonly eventSequence: number;
  readonly metadataUri: string;
  readonly mission: MissionMessage;
  readonly missionIds: MissionIds;
  readonly calibration: CalibrationMessage;
  readonly logEntry: LogEntry;
  readonly logData: LogData;
}

type Take<K extends keyof VehicleMessageMap> = (message: VehicleMessageMap[K]) => void;

/** Decodes each message of the autopilot once, for whoever asked for its kind, in the order in which they asked. */
export class VehicleMessages {
  readonly #takers: { [K in keyof VehicleMessageMap]: Take<K>[] } = {
    ack: [],
    param: [],
    ftp: [],
    event: [],
    eventSequence: [],
    metadataUri: [],
    mission: [],
    missionIds: [],
    calibration: [],
    logEntry: [],
    logData: [],
  };

  on<K extends keyof VehicleMessageMap>(kind: K, take: Take<K>): void {
    const takers: Take<K>[] = this.#takers[kind];
    takers.push(take);
  }

  /**
   * @param payload of that frame, loaded
   * @returns whether it was for the parts alone: it says nothing of the vehicle's state
   */
  deliver(frame: Frame, payload: Payload): boolean {
    switch (frame.id) {
      case MSG.COMMAND_ACK:
        return this.#tell('ack', decodeCommandAck(payload));
      case MSG.PARAM_VALUE:
        return this.#tell('param', decodeParamValue(payload));
      case MSG.FILE_TRANSFER_PROTOCOL:
        return this.#tell('ftp', decodeFtp(payload));
      case MSG.EVENT:
        return this.#tell('event', decodeEvent(payload));
      case MSG.CURRENT_EVENT_SEQUENCE:
        return this.#tell('eventSequence', decodeEventSequence(payload));
      case MSG.COMPONENT_METADATA:
        return this.#tell('metadataUri', decodeMetadataUri(payload));
      case MSG.MISSION_COUNT:
      case MSG.MISSION_REQUEST:
      case MSG.MISSION_REQUEST_INT:
      case MSG.MISSION_ITEM:
      case MSG.MISSION_ITEM_INT:
      case MSG.MISSION_ACK:
        return this.#tell('mission', decodeMission(frame, payload));
      case MSG.MISSION_CURRENT:
        this.#tell('missionIds', decodeMissionIds(payload));
        return false;
      case MSG.COMMAND_LONG:
      case MSG.MAG_CAL_PROGRESS:
      case MSG.MAG_CAL_REPORT:
        return this.#tell('calibration', decodeCalibration(frame, payload));
      case MSG.LOG_ENTRY:
        return this.#tell('logEntry', decodeLogEntry(payload));
      case MSG.LOG_DATA:
        return this.#tell('logData', decodeLogData(payload));
      default:
        return false;
    }
  }

  /** @param message null: not one that the parts know */
  #tell<K extends keyof VehicleMessageMap>(kind: K, message: VehicleMessageMap[K] | null): true {
    const takers: readonly Take<K>[] = this.#takers[kind];
    if (message !== null) for (const take of takers) take(message);
    return true;
  }
}
