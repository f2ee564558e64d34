import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import type { VehicleEvent } from '../../../shared/mavlink/decode-flight.ts';
import type { ComponentMetadata, MetadataKind } from '../metadata/component-metadata.ts';
import { readMetadataFile } from '../metadata/metadata-file.ts';
import { isAnew, type Part, type SessionReason } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import type { PrearmLine } from '../vehicle/prearm.ts';
import type { StatusTexts } from '../vehicle/status-texts.ts';
import { COMMON_SET } from './common-set.ts';
import { EventDefinitions, type EventWords } from './definitions.ts';

/** MAV_CMD_RUN_PREARM_CHECKS: PX4 answers with the report of all checks. */
const RUN_PREARM_CHECKS = 401;
/** COMP_METADATA_TYPE_EVENTS */
const TYPE_EVENTS = 4;
/** Events are numbered. At most this many missing ones are requested: the vehicle keeps no more. */
const MAX_MISSING = 16;
const MAX_CHECKS = 32;
/** Gaps that are asked for. */
const GAPS: Rate = { perSecond: 2, burst: 8 };
/** Log levels as in MAV_SEVERITY; this level and higher ones are not shown. */
const PROTOCOL = 8;
const ERROR = 3;
/** The mask of a check that concerns all flight modes, and of one that forbids none (Report::reportedModes). */
const ALL_MODES = 0xffffffff;

interface EventsOptions extends Speaking {
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
  /** Bits of the groups of flight modes that it is about; all of them too where it forbids none. */
  readonly modes: number;
}

/** One report of all checks (HealthAndArmingChecks, Report::report). */
interface CheckReport {
  /** Bits of the groups of flight modes in which the vehicle would arm; null: not told. */
  readonly canArm: number | null;
  readonly failed: FailedCheck[];
}

const NO_REPORT: CheckReport = { canArm: null, failed: [] };

/**
 * The vehicle's events (https://mavlink.io/en/services/events.html): numbers, whose texts are in metadata. Only these say why
 * PX4 does not arm: after an `arming_check` summary comes one event for each failed check, then the `health` summary.
 */
export class Events implements Part {
  readonly #options: EventsOptions;
  readonly #kind: MetadataKind;
  #definitions = new EventDefinitions();
  /** Whether the vehicle's own metadata is there. */
  #own = false;
  #newest: number | null = null;
  #gaps: TokenBucket | null = null;
  /** The report that is being received. */
  #report: CheckReport | null = null;
  /** The newest complete report. */
  #checks = NO_REPORT;
  /** When that report ended. */
  #reported = { at: 0, wall: 0 };

  constructor(options: EventsOptions) {
    this.#options = options;
    const { messages } = options.vehicle;
    messages.on('event', (event) => this.#onEvent(event));
    messages.on('eventSequence', (sequence) => this.#onSequence(sequence));
    this.#definitions.add(COMMON_SET);
    this.#kind = {
      type: TYPE_EVENTS,
      lack: 'events of the vehicle are not known by name',
      take: async (file, path) => this.#learn(await readMetadataFile(file, path)),
    };
  }

  #onEvent({ id, sequence, level, args }: VehicleEvent): void {
    this.#count(sequence, true);
    if (!this.#own) this.#options.metadata.want(this.#kind);
    const words = this.#definitions.words(id, args);
    if (words === null) return;
    const { group, summary, text } = words;
    if (group === 'arming_check' || group === 'health') {
      if (summary) this.#onSummary(group, args[0] ?? 0, this.#definitions.numberOf(id, args, 'can_arm'));
      else if ((this.#report?.failed.length ?? MAX_CHECKS) < MAX_CHECKS)
        this.#report?.failed.push({ severity: level, text, modes: args.readUInt32LE(0) });
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
  #onSequence(sequence: number): void {
    if (!this.#own) this.#options.metadata.want(this.#kind);
    this.#count(sequence, false);
  }

  /** The checks that prevent arming in the present mode; empty if it can arm. */
  get checks(): readonly PrearmLine[] {
    return this.#forbidding.map(({ text }) => ({ text, ...this.#reported }));
  }

  /** Of the checks that fail, the words of those that do not prevent arming in the present mode. */
  get harmless(): readonly string[] {
    const forbidding = new Set(this.#forbidding);
    return this.#checks.failed.filter((check) => !forbidding.has(check)).map(({ text }) => text);
  }

  /**
   * Levels say little: PX4 tells "No valid mission available" as Info, and warns of what it does not need. What counts is whether
   * the present mode is among those of the check and not among those in which the vehicle would arm. A check that is about all
   * modes forbids none if there is one that arms; where none arms, an error forbids rather than a warning. If nothing is left, as
   * with the sticks that POSCTL needs (ModeChecks::checkAndReport), it is what is told with the most weight.
   */
  get #forbidding(): readonly FailedCheck[] {
    const { customMode } = this.#options.vehicle;
    const { canArm, failed } = this.#checks;
    const groups = customMode === null ? null : this.#definitions.groupsOf(customMode);
    if (groups === null) return failed.filter(({ severity }) => severity <= ERROR);
    if (canArm !== null && (canArm & groups) !== 0) return [];
    const concerned = failed.filter(({ modes }) => (modes & groups) !== 0);
    const sure = concerned.filter(
      ({ modes, severity }) => modes !== ALL_MODES || ((canArm ?? 0) === 0 && severity <= ERROR),
    );
    if (sure.length > 0) return sure;
    const worst = Math.min(...concerned.map(({ severity }) => severity));
    return concerned.filter(({ severity }) => severity === worst);
  }

  onSession(reason: SessionReason): void {
    this.#newest = null;
    this.#report = null;
    if (!isAnew(reason)) return;
    this.#checks = NO_REPORT;
    this.#own = false;
    this.#definitions = new EventDefinitions();
    this.#definitions.add(COMMON_SET);
  }

  /** The checks may come in several parts, numbered from 0. */
  #onSummary(group: 'arming_check' | 'health', part: number, canArm: number | null): void {
    if (group === 'arming_check') {
      if (part === 0 || this.#report === null) this.#report = { canArm, failed: [] };
      return;
    }
    const { canArm: arms, failed } = this.#report ?? NO_REPORT;
    this.#checks = { canArm: arms, failed: [...failed] };
    const { clock } = this.#options;
    this.#reported = { at: clock.now(), wall: clock.wall() };
  }

  /** A vehicle whose numbers jump is not asked for each gap. */
  #mayAsk(now: number): boolean {
    this.#gaps ??= new TokenBucket(GAPS, now);
    return this.#gaps.take(now);
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
    if (!this.#mayAsk(this.#options.clock.now())) return;
    const first = (last - Math.min(missing, MAX_MISSING) + 1) & 0xffff;
    this.#options.ask(this.#options.encoder.requestEvents(target, first, last));
  }

  #learn(file: unknown): void {
    const { log, vehicle, encoder, ask } = this.#options;
    const count = this.#definitions.add(file);
    this.#own = true;
    log.info(`${count} events of the vehicle are known by name`);
    // Earlier events had no texts yet.
    if (vehicle.target !== null && vehicle.armed === false)
      ask(encoder.commandLong(vehicle.target, RUN_PREARM_CHECKS, [0, 0, 0, 0, 0, 0, 0], 0));
  }
}
