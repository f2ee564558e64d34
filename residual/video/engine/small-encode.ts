import type { AccessUnit, Picture, Size } from '../../../shared/media/picture.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/rpc/video.ts';
import { fitWithin, SideEncode } from './side-encode.ts';

/** Two sizes; below some rate the larger one is only noise. */
const LARGE = { width: 640, height: 360, fps: 15 } as const;
const SMALL = { width: 320, height: 180, fps: 10 } as const;
const LARGE_KBPS = { below: 280, above: 330 } as const;
/** The encoder's rate changes when the wish differs by more than this. */
const HYSTERESIS = 0.05;
/** A key frame on request only, and at last each minute; none is larger than what its path carries in this time. */
const SHAPE = { seconds: 60, bufferMs: 250 } as const;

interface SmallEncodeOptions {
  readonly log: Logger;
  readonly onUnit: (unit: AccessUnit) => void;
  /** Steady, ms. */
  readonly now: () => number;
}

/** The second, small encode for viewers on thin paths. It works while one is wanted. */
export class SmallEncode {
  readonly #encode: SideEncode;
  #wantedKbps: number | null = null;
  #size: typeof LARGE | typeof SMALL = LARGE;

  constructor(options: SmallEncodeOptions) {
    this.#encode = new SideEncode({
      ...options,
      what: 'for thin paths',
      wanted: () => this.#wantedKbps !== null,
      profileFor: (size, present) => this.#profileFor(size, present),
      fps: () => this.#size.fps,
      shape: ({ fps }) => ({ gop: fps * SHAPE.seconds, bufferMs: SHAPE.bufferMs }),
    });
  }

  /** Its present settings; null while it rests. */
  get profile(): Profile | null {
    return this.#encode.profile;
  }

  /** @param kbps null to rest */
  want(kbps: number | null): void {
    this.#wantedKbps = kbps;
    if (kbps === null) this.#encode.rest();
    else if (kbps < LARGE_KBPS.below) this.#size = SMALL;
    else if (kbps > LARGE_KBPS.above) this.#size = LARGE;
  }

  /** The next picture becomes a key frame. */
  requestKey(): void {
    this.#encode.requestKey();
  }

  /** Whether pictures are of use now. */
  get wanted(): boolean {
    return this.#encode.wanted;
  }

  /** A raw picture, of the source or decoded; the caller keeps it. */
  offer(picture: Picture): void {
    this.#encode.offer(picture);
  }

  async stop(): Promise<void> {
    this.want(null);
    await this.#encode.stop();
  }

  #profileFor(size: Size, present: Profile | null): Profile {
    const kbps = this.#wantedKbps ?? LARGE_KBPS.below;
    const now = present?.bitrate_kbps ?? 0;
    const near = Math.abs(kbps - now) <= now * HYSTERESIS;
    return { ...fitWithin(size, this.#size), fps: this.#size.fps, bitrate_kbps: near ? now : kbps };
  }
}
