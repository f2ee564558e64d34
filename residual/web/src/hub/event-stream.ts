import { Refused } from '../api/client.ts';
import { heard, missed } from '../api/presence.ts';
import { open } from './client.ts';

/** An answer of the hub that goes on, as server-sent events, and is asked for again whenever it ends. */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** One event with all of its text: a node's status is a few kB, a picture 90 kB. */
const MAX_CHARS = 4 * 1024 * 1024;

interface Followed {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | null>>;
  readonly stop: AbortSignal;
  /** Without a word for so long, ms, it counts as broken. */
  readonly silenceMs: number;
  /** Of one answer: what takes its events, and what is done at its end. */
  readonly begin: () => { readonly take: (name: string, data: unknown) => void; readonly end?: () => void };
}

/** Until it is stopped, or the hub refuses it to this caller, which the rest of the page says. */
export async function follow(followed: Followed): Promise<void> {
  const { stop } = followed;
  let pause = FIRST_PAUSE_MS;
  while (!stop.aborted) {
    let ended = false;
    try {
      await read(followed, () => {
        pause = FIRST_PAUSE_MS;
      });
      ended = true;
    } catch (error) {
      if (error instanceof Refused && [401, 403, 404].includes(error.status)) return;
    }
    if (stop.aborted) return;
    if (!ended) missed();
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  }
}

/** One answer, until it ends or is silent. */
async function read(
  { path, query = {}, stop, silenceMs, begin }: Followed,
  onNews: () => void,
): Promise<void> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), silenceMs);
  };
  const { take, end } = begin();
  try {
    watch();
    const response = await open(path, { query, signal: AbortSignal.any([stop, silent.signal]) });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) return;
      watch();
      heard();
      onNews();
      rest += value;
      const events = rest.split('\n\n');
      rest = events.pop() ?? '';
      if (rest.length > MAX_CHARS) throw new Error('an event of the hub is too long');
      for (const event of events) {
        const match = /^event: (\w+)\ndata: (.*)$/s.exec(event);
        if (match !== null) take(match[1] ?? '', JSON.parse(match[2] ?? '')); // else a sign of life
      }
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
    end?.();
  }
}
