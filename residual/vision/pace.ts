import type { Model } from './model.ts';

/** How often each number of threads is tried, at most, and for how long. */
const RUNS = 8;
const MEASURE_MS = 1500;
/** Two threads must save so much of the time, and may cost so much more computing. */
const FASTER = 0.75;
const DEARER = 1.25;
/** Below that, one thread is fast enough, ms. */
const SHORT_MS = 20;
/** Slower than that is no detector; it is also the least that can be configured. */
const LEAST_HZ = 0.2;
const SMOOTH = 0.2;

interface Cost {
  /** From the start of an inference to its end, ms, median. */
  readonly wallMs: number;
  /** Of all threads together, ms a picture. */
  readonly cpuMs: number;
}

export interface Chosen extends Cost {
  readonly model: Model;
  readonly threads: number;
}

/**
 * Loads the model with one thread, then with two where there are two cores, and keeps what is better: two threads where they take
 * a quarter off the time and cost no more than a quarter in computing. @param threads as configured; 0: to be measured
 */
export async function chooseThreads(
  open: (threads: number) => Promise<Model>,
  threads: number,
  cores: number,
): Promise<Chosen> {
  const first = await tried(open, Math.max(1, threads));
  if (threads > 0 || cores < 2 || first.wallMs < SHORT_MS) return first;
  await first.model.release();
  const second = await tried(open, 2);
  if (second.wallMs <= first.wallMs * FASTER && second.cpuMs <= first.cpuMs * DEARER) return second;
  await second.model.release();
  return { ...first, model: await open(1) };
}

async function tried(open: (threads: number) => Promise<Model>, threads: number): Promise<Chosen> {
  const model = await open(threads);
  const times: number[] = [];
  const began = performance.now();
  const { user, system } = process.cpuUsage();
  while (times.length < RUNS && performance.now() - began < MEASURE_MS) {
    const at = performance.now();
    await model.infer();
    times.push(performance.now() - at);
  }
  const used = process.cpuUsage({ user, system });
  const cpuMs = (used.user + used.system) / 1000 / times.length;
  return { model, threads, wallMs: median(times) ?? 0, cpuMs };
}

/**
 * How many pictures a second are looked at: as many as configured, and so few that this process takes a quarter of all cores at
 * most, which is half of one on a machine with two. What a picture costs is measured first, then followed as it goes on.
 */
export class Pace {
  readonly #mostHz: number;
  /** CPU time that may be used in a second, ms. */
  readonly #budgetMs: number;
  #cpuMs: number;

  constructor(mostHz: number, cores: number, cpuMs: number) {
    this.#mostHz = mostHz;
    this.#budgetMs = 250 * cores;
    this.#cpuMs = cpuMs;
  }

  /** A picture was looked at. @param cpuMs what it cost, all threads and all steps */
  spent(cpuMs: number): void {
    this.#cpuMs += SMOOTH * (cpuMs - this.#cpuMs);
  }

  get hz(): number {
    return Math.max(LEAST_HZ, Math.min(this.#mostHz, this.#budgetMs / Math.max(this.#cpuMs, 0.01)));
  }
}

export function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? null;
}
