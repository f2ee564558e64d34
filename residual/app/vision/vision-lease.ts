import { messageOf } from '../../../shared/errors.ts';
import type { DetectorStatus } from '../../../shared/rpc/vision.ts';

/** Longer than three missing statuses of svc-vision, which come every second. */
const LEASE_S = 5;

/** The profile lease of the node itself. */
export interface OwnLease {
  readonly hold: (seconds: number) => Promise<unknown>;
  readonly release: () => Promise<unknown>;
}

/** Keeps the full picture while something is followed: a target of a few pixels is lost in a thumbnail. */
export class VisionLease {
  readonly #lease: OwnLease;
  readonly #warn: (sentence: string) => void;
  #held = false;
  #told = '';

  constructor(lease: OwnLease, warn: (sentence: string) => void) {
    this.#lease = lease;
    this.#warn = warn;
  }

  /** Call it with each status, and null when the detector is gone. */
  heard(status: DetectorStatus | null): void {
    const lock = status?.designated?.lock_state ?? 'lost';
    if (lock !== 'lost') {
      this.#held = true;
      this.#run(this.#lease.hold(LEASE_S));
    } else if (this.#held) {
      this.#held = false;
      this.#run(this.#lease.release());
    }
  }

  /** The next status tries again; the same problem is told once. */
  #run(work: Promise<unknown>): void {
    work.then(
      () => {
        this.#told = '';
      },
      (error: unknown) => {
        const problem = messageOf(error);
        if (problem !== this.#told) this.#warn(`vision lease: ${problem}`);
        this.#told = problem;
      },
    );
  }
}
