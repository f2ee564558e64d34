import type { Profile } from '../../../shared/profile.ts';
import { type Figures, figuresOf, NO_FIGURES } from './figures.ts';
import type { Report, StreamReport } from './report.ts';

/** docs/contract/ground.md#radio */
export type RadioState = 'active' | 'searching' | 'mis_keyed' | 'stale' | 'down' | 'absent';

/** How long a state holds without what it comes from, ms. */
const HOLD_MS = 3000;
/** Seconds over which loss is counted: a second alone has too few packets. */
const WINDOW = 3;
const STREAMS = new Set(['video rx', 'video tx', 'mavlink rx', 'mavlink tx', 'tunnel rx', 'tunnel tx']);

/**
 * What is known of one link from the reports of wfb-ng. The state is that of the tunnel, whose keepalive runs twice a second both
 * ways: a camera that is off does not look like a lost link. All times are of one monotonic clock, ms.
 */
export class LinkState {
  readonly #profile: Profile;
  #connectedAt: number | null = null;
  #reportAt: number | null = null;
  /** When the tunnel had its newest packet that decrypts. */
  #heardAt: number | null = null;
  /** When frames that do not decrypt began, and when they came last. */
  #foreignSince: number | null = null;
  #foreignAt: number | null = null;
  #videoAt: number | null = null;
  #videoSince: number | null = null;
  #intervalMs = 1000;
  #cards: readonly string[] | null = null;
  /** The newest reports of each stream, oldest first. */
  readonly #streams = new Map<string, StreamReport[]>();
  #figures: Figures = NO_FIGURES;

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  connected(now: number): void {
    this.#connectedAt = now;
    this.#reportAt = null;
  }

  disconnected(): void {
    this.#connectedAt = null;
    this.#reportAt = null;
    this.#heardAt = null;
    this.#foreignSince = null;
    this.#foreignAt = null;
    this.#videoAt = null;
    this.#videoSince = null;
    this.#streams.clear();
    this.#figures = NO_FIGURES;
  }

  take(report: Report, now: number): void {
    this.#reportAt = now;
    if (report.type === 'settings') {
      this.#intervalMs = report.intervalMs;
      this.#cards = report.cards;
      return;
    }
    if (!STREAMS.has(report.id)) return;
    const recent = this.#streams.get(report.id) ?? [];
    recent.push(report);
    if (recent.length > WINDOW) recent.shift();
    this.#streams.set(report.id, recent);
    this.#noteVideo(report, now);
    if (report.id === 'tunnel rx') this.#noteTunnel(report, now);
    this.#figures = figuresOf(this.#streams, this.#profile, this.#intervalMs);
  }

  /** The stream whose reports are the clock of the history. */
  get pace(): string {
    return this.#profile === 'drone' ? 'tunnel rx' : 'video rx';
  }

  get figures(): Figures {
    return this.#figures;
  }

  /** The cards that wfb-ng runs on, null if unknown. */
  get cards(): readonly string[] | null {
    return this.#cards;
  }

  /** ms since the other end was heard, null if it never was. */
  silence(now: number): number | null {
    return this.#heardAt === null ? null : now - this.#heardAt;
  }

  stateAt(now: number): RadioState {
    if (this.#connectedAt === null) return 'down';
    if (now - (this.#reportAt ?? this.#connectedAt) >= HOLD_MS) return 'stale';
    if (this.#heardAt !== null && now - this.#heardAt < HOLD_MS) return 'active';
    const foreign = this.#foreignAt !== null && now - this.#foreignAt < HOLD_MS;
    if (foreign && now - (this.#foreignSince ?? now) >= HOLD_MS) return 'mis_keyed';
    return 'searching';
  }

  /** The link is active and no video has come (on a drone: none is handed over to be sent) for 3 s. */
  cameraSilent(now: number): boolean {
    if (this.stateAt(now) !== 'active' || this.#videoSince === null) return false;
    return now - (this.#videoAt ?? this.#videoSince) >= HOLD_MS;
  }

  #noteTunnel({ packets }: StreamReport, now: number): void {
    if ((packets['data']?.[0] ?? 0) > 0) {
      this.#heardAt = now;
      this.#foreignSince = null;
      this.#foreignAt = null;
      return;
    }
    if ((packets['dec_err']?.[0] ?? 0) > 0) {
      // A report is of the interval that has just ended.
      this.#foreignSince ??= Math.max(now - this.#intervalMs, this.#heardAt ?? 0);
      this.#foreignAt = now;
    }
  }

  #noteVideo({ id, packets }: StreamReport, now: number): void {
    const [stream, count] = this.#profile === 'drone' ? ['video tx', 'incoming'] : ['video rx', 'data'];
    if (id !== stream) return;
    this.#videoSince ??= now;
    if ((packets[count]?.[0] ?? 0) > 0) this.#videoAt = now;
  }
}
