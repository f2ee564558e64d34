import { access } from 'node:fs/promises';
import { messageOf } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import { applyCard, type CardDeps } from './apply-card.ts';
import { SetupHotspot, type SetupHotspotDeps } from './setup-hotspot.ts';

interface FirstBootDeps extends CardDeps, Omit<SetupHotspotDeps, 'paths' | 'hotspot' | 'helper' | 'now'> {
  readonly paths: CardDeps['paths'] & SetupHotspotDeps['paths'];
  readonly hotspot: CardDeps['hotspot'] & SetupHotspotDeps['hotspot'];
  readonly helperSocket: string;
  readonly armed: () => Promise<Armed>;
  /** Restarts the whole node. */
  readonly restart: () => Promise<unknown>;
}

/** What a node does by itself until somebody owns it (docs/first-boot.md). It runs beside everything else. */
export class FirstBoot {
  readonly #deps: FirstBootDeps;
  readonly #abort = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(deps: FirstBootDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { signal } = this.#abort;
    this.#work = this.#run(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#deps.log.error(`first boot: ${messageOf(error)}`);
    });
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#work;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { paired, armed, log, restart, helperSocket } = this.#deps;
    if (!paired()) {
      if (await applyCard(this.#deps, signal)) {
        // One without a flight controller is neither; a vehicle that flies keeps its node.
        if ((await armed()) === true) {
          log.warn('first boot: the node must restart, once the vehicle is disarmed');
          return;
        }
        log.info('first boot: the node restarts, so that what the card says is in force');
        await restart();
        return;
      }
    }
    const helped = await access(helperSocket).then(
      () => true,
      () => false, // as `npm start` without root: the network is the machine's own
    );
    if (helped) await new SetupHotspot({ ...this.#deps, now: this.#deps.monotonic }).run(signal);
  }
}
