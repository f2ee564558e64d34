import { computed, signal } from '@preact/signals';
import { call, Refused } from '../api/client.ts';
import { enter, may } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import type { Answer } from '../api/rows.ts';
import { t } from '../strings.ts';
import { hasMediaSource, playLive } from './live-player.ts';
import type { Playback } from './playback.ts';
import { type Still, watchStills } from './stills.ts';

/**
 * Keeps the node's picture on the screen: by WHEP; where that cannot be (no H.264, no UDP, through the relay) as fragmented MP4; at
 * last as single pictures. Begins again when it breaks off, and says at each moment what is to be seen.
 */

export type Way = 'whep' | 'live' | 'stills';
type Status = Answer<'video.get'>;

// Between two tries: growing, until a picture comes.
const PAUSE_MS = { first: 250, longest: 15_000, factor: 1.6 };
// A picture that is older is not called live.
const STILL_MS = 2000;
// A film that is so late came over a link that is too thin for it: WHEP has a smaller one.
const TOO_LATE_MS = 8000;
const LOOK_MS = 250;
const STATUS_MS = 2000;

export class Watching {
  readonly words = signal('');
  /** How the picture comes; null: it does not. */
  readonly way = signal<Way | null>(null);
  /** The newest picture is one of now. */
  readonly live = signal(false);
  readonly still = signal<Still | null>(null);
  /** ms, where it can be told. */
  readonly delay = signal<number | null>(null);
  readonly size = signal<{ readonly width: number; readonly height: number } | null>(null);
  readonly status = signal<Status | null>(null);
  readonly recording = computed(() => this.status.value?.recording ?? null);
  readonly #video: HTMLVideoElement;
  readonly #stopper = new AbortController();
  #playback: Playback | null = null;

  constructor(video: HTMLVideoElement) {
    this.#video = video;
    void this.#run();
  }

  stop(): void {
    this.#stopper.abort();
    this.#playback?.stop();
  }

  /** When the shown picture was taken, Unix ms of this page's clock; null: not known. */
  takenAt(): number | null {
    const still = this.still.value;
    if (still !== null) return performance.timeOrigin + still.at;
    return this.#playback?.takenAt() ?? null;
  }

  /** Calls with each picture of the film, where the browser tells. @returns how to end it */
  onPicture(listener: () => void): () => void {
    const video = this.#video;
    if (!('requestVideoFrameCallback' in video)) return () => undefined;
    let handle = 0;
    const next = (): void => {
      handle = video.requestVideoFrameCallback(() => {
        listener();
        next();
      });
    };
    next();
    return () => video.cancelVideoFrameCallback(handle);
  }

  /** Asks for the state of recording and pictures, for example after a change. */
  async look(): Promise<void> {
    try {
      this.status.value = await call('video.get', { signal: this.#stopper.signal });
    } catch (error) {
      if (!(error instanceof Refused) && !this.#isOver) throw error; // it is told with the picture
    }
  }

  get #isOver(): boolean {
    return this.#stopper.signal.aborted;
  }

  async #run(): Promise<void> {
    this.#say(t.fly.video.connecting);
    const ways = await waysHere();
    let at = 0;
    // The first question at once: an offer where there is no picture would be an error in the console.
    let pause = 0;
    while (!this.#isOver) {
      const way = ways[at];
      if (way === undefined) {
        this.#say(t.fly.video.nothing);
        return;
      }
      for (let running = false; !running; ) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(PAUSE_MS.longest, Math.max(PAUSE_MS.first, pause * PAUSE_MS.factor));
        if (this.#isOver) return;
        try {
          const status = await call('video.get', { signal: this.#stopper.signal });
          this.status.value = status;
          running = status.state === 'running';
          if (!running) this.#say(stateOf(status));
        } catch (error) {
          if (this.#isOver) return;
          if (!(error instanceof Refused)) throw error;
          if (await this.#isShut(error)) return;
          this.#say(sentence(error));
        }
      }
      this.#say(t.fly.video.connecting);
      try {
        const end = await this.#watch(way);
        if (this.#isOver) return;
        if (end === 'seen') {
          pause = PAUSE_MS.first;
          at = 0;
        } else if (end === 'unreachable') at = (at + 1) % ways.length;
        this.#say(t.fly.video.broke);
      } catch (error) {
        if (this.#isOver) return;
        // What the browser itself does not take, it does not take the next time either.
        if (!(error instanceof Refused)) ways.splice(at, 1);
        else if (await this.#isShut(error)) return;
        else this.#say(sentence(error));
        if (at >= ways.length) at = 0;
      }
    }
  }

  /** @returns how it ended: with pictures, without, or without a connection. @throws Refused, Error */
  async #watch(way: Way): Promise<'seen' | 'unseen' | 'unreachable'> {
    try {
      if (way === 'stills') return await this.#follow(null);
      if (way === 'live') return await this.#follow(await playLive(this.#video));
      const { play } = await import('./whep-player.ts');
      const playback = await play(this.#video);
      let reached = false;
      playback.peer.addEventListener('connectionstatechange', () => {
        reached ||= playback.peer.connectionState === 'connected';
      });
      const end = await this.#follow(playback);
      return end === 'seen' || reached ? end : 'unreachable';
    } finally {
      this.#playback = null;
      this.way.value = null;
      this.live.value = false;
      this.delay.value = null;
      this.size.value = null;
    }
  }

  /** Says what is to be seen until the playback ends. @param playback null: single pictures */
  async #follow(playback: Playback | null): Promise<'seen' | 'unseen'> {
    const video = this.#video;
    let frames = -1;
    let seen: number | null = null;
    const way: Way = playback === null ? 'stills' : 'peer' in playback ? 'whep' : 'live';
    const look = (): void => {
      if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || this.#isOver) return;
      const now = video.getVideoPlaybackQuality().totalVideoFrames;
      if (now !== frames) seen = performance.now();
      frames = now;
      const isLive = seen !== null && performance.now() - seen < STILL_MS;
      const delay = playback?.delayMs() ?? null;
      if (delay !== null && delay > TOO_LATE_MS) playback?.stop();
      this.way.value = way;
      this.live.value = isLive;
      this.delay.value = delay === null ? null : Math.round(delay / 100) * 100;
      const { videoWidth: width, videoHeight: height } = video;
      if (this.size.value?.width !== width || this.size.value.height !== height)
        this.size.value = { width, height };
      this.#say(isLive ? t.fly.video.live : t.fly.video.still);
    };
    this.#say(t.fly.video.waiting);
    const timer = setInterval(look, LOOK_MS);
    const asking = setInterval(() => void (document.hidden || this.look()), STATUS_MS);
    video.addEventListener('loadeddata', look);
    void this.look();
    try {
      if (playback === null) {
        await watchStills(this.#stopper.signal, (still) => {
          this.still.value = still;
          if (still === null) return;
          seen = still.at;
          this.way.value = way;
          this.#say(t.fly.video.stills);
        });
      } else {
        this.#playback = playback;
        if (this.#isOver) playback.stop();
        await playback.ended;
      }
    } finally {
      clearInterval(timer);
      clearInterval(asking);
      video.removeEventListener('loadeddata', look);
    }
    return seen === null ? 'unseen' : 'seen';
  }

  /** Whether the node wants a credential, or none from here; then nothing is tried until there is another. */
  async #isShut(error: Refused): Promise<boolean> {
    if (error.status !== 401 && error.status !== 403) return false;
    this.#say(error.message);
    // It may have been paired while this page was open: then the page asks for a credential.
    if (error.status === 401) await enter().catch(() => undefined);
    return true;
  }

  #say(text: string): void {
    if (!this.#isOver && this.words.value !== text) this.words.value = text;
  }
}

/** What this browser can show here, the best first. */
async function waysHere(): Promise<Way[]> {
  const { lacksWebRtc } = await import('./whep-player.ts');
  const ways: Way[] = [];
  // Its packets would go to the drone's own address, which this browser does not reach.
  if (relayed.value === null && may('whep.post') && lacksWebRtc() === null) ways.push('whep');
  if (may('video.live.mp4.get') && hasMediaSource()) ways.push('live');
  if (may('video.snapshot.get')) ways.push('stills');
  return ways;
}

/** A node without a picture, in a sentence. */
function stateOf({ state, problem }: Status): string {
  if (state === 'off') return t.fly.video.off;
  if (state === 'searching') return t.fly.video.searching;
  if (state === 'starting') return t.fly.video.starting;
  return t.fly.video.none({ problem: problem ?? null });
}

/** An answer without a picture, in a sentence. */
function sentence({ status, message }: Refused): string {
  if (status === 0) return t.fly.video.away;
  if (status === 501) return t.fly.video.off;
  if (status === 429) return t.fly.video.tooMany;
  return message;
}
