import { ApiError, codeOf } from '../../shared/errors.ts';
import { PICTURE_WIDTH } from '../../shared/fleet/told.ts';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { VIDEO } from '../../shared/rpc/video.ts';

/** After svc-video was not there, ms. */
const PAUSE_MS = 5000;

/** Small pictures of the camera for the fleet, asked of svc-video only while somebody looks. */
export class Pictures {
  readonly #client: Client<typeof VIDEO>;
  #notBefore = -Infinity;

  constructor(path: string) {
    this.#client = clientOf(VIDEO, { path });
  }

  stop(): void {
    this.#client.stop();
  }

  /** The newest picture as JPEG; null while there is none. */
  async newest(): Promise<Uint8Array | null> {
    if (performance.now() < this.#notBefore) return null;
    try {
      if (!this.#client.connected) await this.#client.connectOnce();
      const { jpeg_base64: jpeg } = await this.#client.calls.snapshot({ width: PICTURE_WIDTH });
      return Buffer.from(jpeg, 'base64');
    } catch (error) {
      if (!(error instanceof ApiError) && codeOf(error) === undefined) throw error;
      this.#notBefore = performance.now() + PAUSE_MS; // no camera, or svc-video is away: the page says that there is no picture
      return null;
    }
  }
}
