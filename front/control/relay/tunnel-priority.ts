import { networkInterfaces } from 'node:os';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';

const LOOK_MS = 1000;

interface TunnelPriorityOptions {
  /** This node's own addresses in the tunnels of its bound radios. */
  readonly addresses: () => readonly string[];
  readonly kbps: number;
  readonly helper: Pick<Helper, 'tunnel_priority'>;
  readonly log: Logger;
}

/**
 * Bounds what this node sends through the tunnel, and lets short answers pass before long downloads: above the air's capacity
 * wfb-ng drops MAVLink and video, too. Set anew whenever wfb-ng has made its device.
 */
export class TunnelPriority {
  readonly #options: TunnelPriorityOptions;
  /** By name, with the interface's index: a device that was made anew has lost its setting. */
  readonly #done = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #said = '';

  constructor(options: TunnelPriorityOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = every(LOOK_MS, 'tunnel', async () => this.#look());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { addresses, kbps, helper, log } = this.#options;
    const own = addresses();
    const devices = Object.entries(networkInterfaces()).flatMap(([device, found = []]) =>
      device !== 'lo' && found.some(({ address }) => own.includes(address)) ? [device] : [],
    );
    for (const device of this.#done) if (!devices.includes(device)) this.#done.delete(device);
    for (const device of devices) {
      if (this.#done.has(device)) continue;
      this.#done.add(device);
      try {
        const { fair, quick } = await helper.tunnel_priority({ device, kbps });
        const how = fair
          ? 'short answers first'
          : 'without fq_codel, so that a download delays short answers';
        const again = quick
          ? ''
          : '; what is lost is sent again after 200 ms only, since its route could not be changed';
        log.info(`tunnel: ${device} sends at most ${kbps} kbit/s, ${how}${again}`);
      } catch (error) {
        const words = `tunnel: ${device} has no bound: ${messageOf(error)}`;
        if (words !== this.#said) log.warn(words);
        this.#said = words;
      }
    }
  }
}
