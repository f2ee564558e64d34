import { send } from '../api/client.ts';
import type { Playback } from './playback.ts';

/** The picture as fragmented MP4 through Media Source: where WebRTC is not to be had. */

// What was shown is dropped, and what lies behind the newest picture is skipped.
const KEEP_S = 5;
const LATEST_S = 1;
const STALL_MS = 5000;
// A clock that differs by more than this is another clock.
const SAME_CLOCK_MS = 2000;

type Source = typeof MediaSource;

/** Safari on a phone has its own. */
function mediaSource(): Source | null {
  const own: { ManagedMediaSource?: Source; MediaSource?: Source } = globalThis;
  return own.MediaSource ?? own.ManagedMediaSource ?? null;
}

export function hasMediaSource(): boolean {
  return mediaSource()?.isTypeSupported('video/mp4; codecs="avc1.42c01f"') ?? false;
}

/** Plays the node's main encode. @throws Refused, and Error where the browser has no Media Source for it */
export async function playLive(video: HTMLVideoElement): Promise<Playback> {
  const Source = mediaSource();
  if (Source === null) throw new Error('no Media Source');
  const stopper = new AbortController();
  const response = await send('video.live.mp4.get', { signal: stopper.signal, lasting: true });
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !Source.isTypeSupported(type)) {
    stopper.abort();
    throw new Error(`no Media Source for ${type}`);
  }
  const delayMs = clockOf(response, video);
  const source = new Source();
  const url = URL.createObjectURL(source);
  video.srcObject = null;
  // Without it Safari's own Media Source does not open.
  video.disableRemotePlayback = true;
  video.src = url;
  const run = async (reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>): Promise<void> => {
    await new Promise<void>((resolve) =>
      source.addEventListener('sourceopen', () => resolve(), { once: true }),
    );
    const buffer = source.addSourceBuffer(type);
    for (;;) {
      const late = setTimeout(() => stopper.abort(), STALL_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(late));
      if (done) return;
      await settled(buffer, () => buffer.appendBuffer(value));
      await keepLive(video, buffer);
    }
  };
  const stop = (): void => stopper.abort();
  addEventListener('pagehide', stop);
  const ended = run(response.body.getReader())
    // However it ended, what is left to do is the same: the caller looks whether there is a picture to be had.
    .catch(() => undefined)
    .finally(() => {
      removeEventListener('pagehide', stop);
      stopper.abort();
      URL.revokeObjectURL(url);
    });
  const takenAt = (): number | null => {
    const delay = delayMs();
    return delay === null ? null : performance.timeOrigin + performance.now() - delay;
  };
  return { ended, stop, delayMs, takenAt };
}

async function keepLive(video: HTMLVideoElement, buffer: SourceBuffer): Promise<void> {
  const { buffered } = buffer;
  if (buffered.length === 0) return;
  const first = buffered.start(0);
  const newest = buffered.end(buffered.length - 1);
  if (newest - video.currentTime > LATEST_S || video.currentTime < first) video.currentTime = newest - 0.1;
  if (video.paused) void video.play().catch(() => undefined); // muted: refused only while nobody looks
  if (video.currentTime - first > 2 * KEEP_S)
    await settled(buffer, () => buffer.remove(first, video.currentTime - KEEP_S));
}

async function settled(buffer: SourceBuffer, work: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const off = (): void => {
      buffer.removeEventListener('updateend', done);
      buffer.removeEventListener('error', failed);
    };
    const done = (): void => {
      off();
      resolve();
    };
    const failed = (): void => {
      off();
      reject(new Error('the browser does not take the film'));
    };
    buffer.addEventListener('updateend', done);
    buffer.addEventListener('error', failed);
    try {
      work();
    } catch (error) {
      off();
      reject(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** The stream counts from `x-captured-at` by the node's clock, which need not be this browser's. */
function clockOf(response: Response, video: HTMLVideoElement): () => number | null {
  const captured = Date.parse(response.headers.get('x-captured-at') ?? '');
  const node = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(captured)) return () => null;
  const ahead = Number.isNaN(node) ? 0 : Date.now() - node;
  const skew = Math.abs(ahead) > SAME_CLOCK_MS ? ahead : 0;
  return () => Math.max(0, Date.now() - skew - captured - video.currentTime * 1000);
}
