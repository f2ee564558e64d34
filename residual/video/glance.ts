import { ApiError } from '../../shared/errors.ts';
import { Attempt } from './attempt.ts';
import { cloneFrame } from './engine/av.ts';
import type { AccessUnit, Picture, VideoClock } from './engine/picture.ts';
import { UnitBuffer } from './engine/unit-buffer.ts';
import type { Camera } from './sources/source.ts';

interface GlanceOptions {
  readonly clock: VideoClock;
  /** As `PipelineOptions.onStuck`. */
  readonly onStuck: (why: string) => void;
}

const FIRST_PICTURE_MS = 6000;

/** One picture of a camera that is not shown: it runs for as long as that takes. One at a time. */
export class Glance {
  readonly #options: GlanceOptions;
  #attempt: Attempt | null = null;
  #busy = false;

  constructor(options: GlanceOptions) {
    this.#options = options;
  }

  /** @returns its first picture, the frame for the caller to free. @throws ApiError E_BUSY, E_NO_FRAME */
  async at(camera: Camera): Promise<Picture> {
    if (this.#busy) throw new ApiError('E_BUSY', 'Another camera is being looked at.');
    this.#busy = true;
    let running: Promise<unknown> = Promise.resolve();
    try {
      const source = await camera.open();
      if (source === null) throw new ApiError('E_NO_FRAME', `The camera ${camera.id} is not there.`);
      const taken = Promise.withResolvers<Picture>();
      let isThere = false;
      const take = (picture: Picture | Promise<Picture>): void => {
        isThere = true;
        taken.resolve(picture);
        attempt.end('its picture is taken');
      };
      const attempt = new Attempt({
        source,
        ...this.#options,
        fromKey: true,
        firstPictureMs: FIRST_PICTURE_MS,
        onLook: () => undefined,
        sink: () => ({
          wants: () => true,
          onPicture: (picture) => take({ ...picture, frame: cloneFrame(picture.frame) }),
          onUnit: (unit) => take(decoded(unit)),
        }),
      });
      this.#attempt = attempt;
      running = attempt.done;
      attempt.start();
      const failed = attempt.failed.then(async (why) => {
        if (isThere) return taken.promise;
        throw new ApiError('E_NO_FRAME', `The camera ${camera.id} gives no picture: ${why}.`);
      });
      return await Promise.race([taken.promise, failed]);
    } finally {
      // The device is free again when it has ended.
      void running.then(() => {
        this.#busy = false;
        this.#attempt = null;
      });
    }
  }

  async stop(): Promise<void> {
    this.#attempt?.end('stopped');
    await this.#attempt?.done;
  }
}

async function decoded(key: AccessUnit): Promise<Picture> {
  const units = new UnitBuffer();
  units.push(key);
  const picture = await units.decode();
  if (picture === null) throw new ApiError('E_NO_FRAME');
  return picture;
}
