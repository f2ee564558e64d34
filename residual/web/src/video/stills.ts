import { Refused, send } from '../api/client.ts';

/** One picture after another: the last resort where a browser can play nothing. */

const EVERY_MS = 1000;

export interface Still {
  /** A blob, valid until the next one. */
  readonly url: string;
  /** ms of the page's clock when it arrived. */
  readonly at: number;
}

/** @returns when a picture was refused or the signal ended it. @throws Refused */
export async function watchStills(
  signal: AbortSignal,
  onStill: (still: Still | null) => void,
): Promise<void> {
  let last: string | null = null;
  try {
    while (!signal.aborted) {
      if (!document.hidden) {
        const picture = await (await send('video.snapshot.get', { signal })).blob();
        const url = URL.createObjectURL(picture);
        onStill({ url, at: performance.now() });
        if (last !== null) URL.revokeObjectURL(last);
        last = url;
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  } catch (error) {
    if (!signal.aborted) throw error instanceof Refused ? error : new Refused(0, 'E_AWAY', String(error));
  } finally {
    onStill(null);
    if (last !== null) URL.revokeObjectURL(last);
  }
}
