import { readFileSync } from 'node:fs';

/** Files that run whatever the machine does. Each further one begins when the processor has time for it. */
const SURE = 3;
/** A file takes a fifth of two cores on average (test/durations.tsv). */
const IDLE_SHARE = 0.25;
/** How long it is looked at; a little longer for each further file, so that they do not begin at once. */
const LOOK_MS = 2000;
const LATER_MS = 500;
/** Where there is never time, those that are sure do all the work. */
const LONGEST_MS = 20 * 60_000;

/** What the cores did since the machine's start: proc(5), in ticks. */
function ticks(): { readonly idle: number; readonly all: number } {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9);
  const [, , , idle = 0, waiting = 0] = (fields ?? []).map(Number);
  return { idle: idle + waiting, all: (fields ?? []).reduce((sum, each) => sum + Number(each), 0) };
}

async function idleShare(ms: number): Promise<number> {
  const before = ticks();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const after = ticks();
  return (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

/**
 * Specs wait for processes, clocks and networks for most of their time, and then all calculate at once: a fixed number at a time
 * leaves a quick machine idle, and makes a slow one so late that tests give up.
 */
export const mochaHooks = {
  async beforeAll(this: Mocha.Context): Promise<void> {
    const further = Number(process.env['MOCHA_WORKER_ID'] ?? 0) - SURE;
    if (further < 0) return;
    this.timeout(0);
    const end = performance.now() + LONGEST_MS;
    const lookMs = LOOK_MS + further * LATER_MS;
    while (performance.now() < end && (await idleShare(lookMs)) < IDLE_SHARE);
  },
};
