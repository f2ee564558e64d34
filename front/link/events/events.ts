import type { VehicleEvent } from '../../../shared/mavlink/decode-flight.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { ComponentMetadata, MetadataKind } from '../metadata/component-metadata.ts';
import { readMetadataFile } from '../metadata/metadata-file.ts';
import type { Told } from '../vehicle/prearm.ts';
import type { StatusTexts } from '../vehicle/status-texts.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { COMMON_SET } from './common-set.ts';
import { EventDefinitions, type EventWords } from './definitions.ts';

/** MAV_CMD_RUN_PREARM_CHECKS: PX4 answers with the report of all checks. */
const RUN_PREARM_CHECKS = 401;
/** COMP_METADATA_TYPE_EVENTS */
const TYPE_EVENTS = 4;
/** Events are numbered. At most this many missing ones are requested: the vehicle keeps no more. */
const MAX_MISSING = 16;
const MAX_CHECKS = 32;
/** Log levels as in MAV_SEVERITY; this level and higher ones are not shown. */
const PROTOCOL = 8;
const WARNING = 4;
const ERROR = 3;

interface EventsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly send: (bytes: Buffer) => void;
  readonly metadata: ComponentMetadata;
  /** Gets each event in words. */
  readonly texts: StatusTexts;
  /** An event of the group `calibration`. */
  readonly onCalibration: (words: EventWords, args: Buffer) => void;
}

/** A check that fails. */
interface FailedCheck {
  readonly severity: number;
  readonly text: string;
  /** Bits of the groups of flight modes that it forbids. */
  readonly modes: number;
}

/**
 * The vehicle's events (https://mavlink.io/en/services/events.html): numbers, whose texts are in metadata. Only these say why
 * PX4 does not arm: after an `arming_check` summary comes one event for each failed check, then the `health` summary.
 */
export class Events {
  readonly #options: EventsOptions;
  readonly #kind: MetadataKind;
  #definitions = new EventDefinitions();
  /** Whether the vehicle's own metadata is there. */
  #own = false;
  #newest: number | null = null;
  /** The report that is being received: severity and text of each check. */
  #report: FailedCheck[] | null = null;
  /** The newest complete report. */
  #checks: readonly FailedCheck[] = [];
  /** When that report ended. */
  #reported = { at: 0, wall: 0 };

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#definitions.add(COMMON_SET);
    this.#kind = {
      type: TYPE_EVENTS,
      lack: 'events of the vehicle are not known by name',
      take: async (file, path) => this.#learn(await readMetadataFile(file, path)),
    };
  }

  onEvent({ id, sequence, level, args }: VehicleEvent): void {
    this.#count(sequence, true);
    if (!this.#own) this.#options.metadata.want(this.#kind);
    const words = this.#definitions.words(id, args);
    if (words === null) return;
    const { group, summary, text } = words;
    if (group === 'arming_check' || group === 'health') {
      if (summary) this.#onSummary(group, args[0] ?? 0);
      else if (level <= WARNING && (this.#report?.length ?? MAX_CHECKS) < MAX_CHECKS)
        this.#report?.push({ severity: level, text, modes: args.readUInt32LE(0) });
      return;
    }
    if (group === 'calibration') {
      this.#options.onCalibration(words, args);
      return;
    }
    if (level >= PROTOCOL || group !== 'default') return;
    this.#options.texts.say(level, text);
  }

  /** CURRENT_EVENT_SEQUENCE: the newest number that the vehicle has given. */
  onSequence(sequence: number): void {
    if (!this.#own) this.#options.metadata.want(this.#kind);
    this.#count(sequence, false);
  }

  /** The checks that prevent arming in the present mode; empty if it can arm. */
  get checks(): readonly Told[] {
    const { customMode } = this.#options.vehicle;
    const groups = customMode === null ? null : this.#definitions.groupsOf(customMode);
    const counts = ({ modes, severity }: FailedCheck): boolean =>
      groups === null ? severity <= ERROR : (modes & groups) !== 0;
    return this.#checks.filter(counts).map(({ text }) => ({ text, ...this.#reported }));
  }

  /** A session of the vehicle begins. @param other whether it is another vehicle, or has rebooted */
  begin(other: boolean): void {
    this.#newest = null;
    this.#report = null;
    if (!other) return;
    this.#checks = [];
    this.#own = false;
    this.#definitions = new EventDefinitions();
    this.#definitions.add(COMMON_SET);
  }

  /** The checks may come in several parts, numbered from 0. */
  #onSummary(group: 'arming_check' | 'health', part: number): void {
    if (group === 'arming_check') {
      if (part === 0 || this.#report === null) this.#report = [];
      return;
    }
    this.#checks = [...(this.#report ?? [])];
    const { clock } = this.#options;
    this.#reported = { at: clock.now(), wall: clock.wall() };
  }

  #count(sequence: number, isEvent: boolean): void {
    const newest = this.#newest;
    if (newest === null) {
      this.#newest = sequence;
      return;
    }
    const ahead = (sequence - newest) & 0xffff;
    if (ahead === 0 || ahead >= 0x8000) return; // known already, or requested
    const last = isEvent ? (sequence - 1) & 0xffff : sequence;
    const missing = isEvent ? ahead - 1 : ahead;
    this.#newest = sequence;
    const { target } = this.#options.vehicle;
    if (missing === 0 || target === null) return;
    const first = (last - Math.min(missing, MAX_MISSING) + 1) & 0xffff;
    this.#options.send(this.#options.encoder.requestEvents(target, first, last));
  }

  #learn(file: unknown): void {
    const { log, vehicle, encoder, send } = this.#options;
    const count = this.#definitions.add(file);
    this.#own = true;
    log.info(`${count} events of the vehicle are known by name`);
    // Earlier events had no texts yet.
    if (vehicle.target !== null && vehicle.armed === false)
      send(encoder.commandLong(vehicle.target, RUN_PREARM_CHECKS, [0, 0, 0, 0, 0, 0, 0], 0));
  }
}
