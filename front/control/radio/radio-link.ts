import { every } from '../../../shared/async/every.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import { type RadioQuality, radioQuality } from '../../../shared/radio/quality.ts';
import type { Figures } from './figures.ts';
import { History, type Sample } from './history.ts';
import { LinkState, type RadioState } from './link-state.ts';
import type { Report, StreamReport } from './report.ts';
import { ReportClient } from './report-client.ts';

interface RadioLinkDeps {
  readonly slot: number;
  readonly profile: Profile;
  /** TCP port of wfb-ng's JSON API on 127.0.0.1. */
  readonly port: number;
  /** Monotonic and wall clock, ms. */
  readonly monotonic: () => number;
  readonly now: () => number;
  readonly log: Logger;
  /** Each report of a stream, with the figures that it has led to. */
  readonly onReport?: (report: StreamReport, figures: Figures) => void;
}

/** How often a state that only time changes is looked at. */
const WATCH_MS = 500;

/** One link, as wfb-ng's JSON API reports it; tells each change of its state in the log. */
export class RadioLink {
  readonly #deps: RadioLinkDeps;
  readonly #state: LinkState;
  readonly #history = new History();
  readonly #client: ReportClient;
  #timer: NodeJS.Timeout | null = null;
  #told: RadioState | null = null;
  #toldAt = 0;
  #connection: string | null = 'it was not tried yet';
  /** Lines of the API that were no reports. */
  garbage = 0;

  constructor(deps: RadioLinkDeps) {
    this.#deps = deps;
    this.#state = new LinkState(deps.profile);
    this.#client = new ReportClient(deps.port, {
      report: (report) => this.#take(report),
      connection: (problem) => this.#connected(problem),
      garbage: () => {
        this.garbage++;
      },
    });
  }

  start(): void {
    this.#client.start();
    this.#timer = every(WATCH_MS, 'state of the radio', () => this.#tell());
  }

  stop(): void {
    this.#client.stop();
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  get slot(): number {
    return this.#deps.slot;
  }

  get state(): RadioState {
    return this.#state.stateAt(this.#deps.monotonic());
  }

  get quality(): RadioQuality {
    return radioQuality({ state: this.state, loss_percent: this.figures.loss_percent });
  }

  get figures(): Figures {
    return this.#state.figures;
  }

  get cameraSilent(): boolean {
    return this.#state.cameraSilent(this.#deps.monotonic());
  }

  /** Since the other end was heard, null if it never was. */
  get silentSeconds(): number | null {
    const silence = this.#state.silence(this.#deps.monotonic());
    return silence === null ? null : Math.round(silence / 100) / 10;
  }

  /** For how long it has been active; null while it is not. */
  get activeSeconds(): number | null {
    return this.#told === 'active' && this.state === 'active'
      ? (this.#deps.monotonic() - this.#toldAt) / 1000
      : null;
  }

  /** The cards that wfb-ng runs on, null if unknown. */
  get cards(): readonly string[] | null {
    return this.#state.cards;
  }

  /** Why there is no connection to the API; null if there is one. */
  get connectionProblem(): string | null {
    return this.#connection;
  }

  /** Oldest first. */
  samples(seconds: number): readonly Sample[] {
    return this.#history.since(this.#deps.monotonic() - seconds * 1000);
  }

  #take(report: Report): void {
    const now = this.#deps.monotonic();
    this.#state.take(report, now);
    if (report.type !== 'settings' && report.id === this.#state.pace) {
      const { rssi_dbm, snr_db, loss_percent, loss_before_fec_percent, bitrate_kbps } = this.#state.figures;
      const timestamp = new Date(this.#deps.now()).toISOString();
      this.#history.add(now, {
        timestamp,
        rssi_dbm,
        snr_db,
        loss_percent,
        loss_before_fec_percent,
        bitrate_kbps,
      });
    }
    this.#tell();
    if (report.type !== 'settings') this.#deps.onReport?.(report, this.#state.figures);
  }

  #connected(problem: string | null): void {
    this.#connection = problem;
    if (problem === null) this.#state.connected(this.#deps.monotonic());
    else this.#state.disconnected();
    this.#tell();
  }

  #tell(): void {
    const { state } = this;
    if (state === this.#told) return;
    const { log, slot } = this.#deps;
    const before = this.#told ?? 'unknown';
    this.#told = state;
    this.#toldAt = this.#deps.monotonic();
    const { rssi_dbm, decrypt_errors } = this.figures;
    const facts = { slot, rssi_dbm, decrypt_errors, silent_seconds: this.silentSeconds };
    const sentence = `radio: slot ${slot} was ${before}, is ${state}`;
    if (state === 'active' || before === 'unknown') log.info(sentence, facts);
    else log.warn(sentence, facts);
  }
}
