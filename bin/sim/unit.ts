import { seededRandom } from '../../shared/random.ts';
import { Autopilot, type AutopilotOptions } from './autopilot.ts';
import type { Faults } from './faults.ts';
import { Loop } from './loop.ts';
import { Timers } from './timers.ts';
import type { ClientEvents } from './transports/sim-link.ts';

/** One vehicle with what makes it run. */
export class Unit {
  /** What its link tells it. */
  readonly events: ClientEvents;
  readonly #autopilot: Autopilot;
  readonly #timers = new Timers();
  readonly #loop: Loop;

  /** @param hangUp ends the connection of its client, on a reboot */
  constructor(options: AutopilotOptions, seed: number, faults: Faults, hangUp: () => void) {
    this.#autopilot = new Autopilot(options, {
      now: () => performance.now(),
      wallMs: () => Date.now(),
      random: seededRandom(seed),
      faults,
      timers: this.#timers,
      hangUp,
    });
    this.#loop = new Loop(() => this.#autopilot.tick());
    this.events = {
      connected: (sink) => {
        this.#autopilot.connect(sink);
        this.#loop.soon();
      },
      received: (frame) => {
        this.#autopilot.receive(frame);
        this.#loop.soon();
      },
    };
  }

  start(): void {
    this.#loop.start();
  }

  reboot(): void {
    this.#autopilot.reboot();
  }

  /** The faults have changed. */
  soon(): void {
    this.#loop.soon();
  }

  stop(): void {
    this.#loop.stop();
    this.#timers.clear();
  }
}
