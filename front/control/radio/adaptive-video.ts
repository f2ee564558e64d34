import type { Config } from '../../../shared/config/schema.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { VIDEO } from '../../../shared/rpc/video.ts';
import type { Figures } from './figures.ts';
import { type AdaptationLimits, LinkAdaptation } from './link-adaptation.ts';
import type { StreamReport } from './report.ts';

interface AdaptiveVideoDeps {
  readonly videoSocket: string;
  readonly limits: AdaptationLimits;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** A picture that is worse than this is of no use. */
const LEAST_KBPS = 300;

/** Between which bit rates it moves, and how much loss FEC makes good. */
export function limitsOf({ radio, video }: Pick<Config, 'radio' | 'video'>): AdaptationLimits {
  const { fec_k: k, fec_n: n } = radio;
  const fullKbps = video.hero.bitrate_kbps;
  return { fullKbps, leastKbps: Math.min(fullKbps, LEAST_KBPS), fecShare: Math.max(0, n - k) / n };
}

/** On a drone: keeps the encoder at what the radio takes (`radio.adaptive`). Without svc-video there is nothing to do. */
export class AdaptiveVideo {
  readonly #deps: AdaptiveVideoDeps;
  readonly #adaptation: LinkAdaptation;
  readonly #client: Client<typeof VIDEO>;

  constructor(deps: AdaptiveVideoDeps) {
    this.#deps = deps;
    this.#adaptation = new LinkAdaptation(deps.limits);
    this.#client = clientOf(VIDEO, {
      path: deps.videoSocket,
      // A new svc-video knows of no limit.
      onConnection: (connected) => {
        if (connected) this.#tell(false);
      },
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  take(report: StreamReport, { loss_before_fec_percent: loss }: Figures): void {
    if (report.id !== 'video tx') return;
    const [dropped = 0] = report.packets['dropped'] ?? [];
    const all = dropped + (report.packets['injected']?.[0] ?? 0);
    const change = this.#adaptation.take({
      at: this.#deps.monotonic(),
      dropped: all === 0 ? null : dropped / all,
      loss: loss === null ? null : loss / 100,
    });
    if (change === null) return;
    this.#deps.log.info(`radio: video at most ${change.kbps} kbit/s: ${change.reason}`, { ...change });
    this.#tell(dropped > 0);
  }

  /** @param key whether pictures were lost, so that the next has to stand alone */
  #tell(key: boolean): void {
    const { log } = this.#deps;
    this.#client.calls
      .limit({ bitrate_kbps: this.#adaptation.kbps, key })
      .catch((error: unknown) => log.debug(`radio: svc-video takes no limit: ${messageOf(error)}`));
  }
}
