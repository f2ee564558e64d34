import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ROOT } from './node.ts';

const list = process.env['SVC_TEST_DURATIONS'];
let begun = 0;
let processor = 0;

/** Seconds of the processor that this process has taken, and all those below it that have ended: proc(5), in ticks of 10 ms. */
function processorSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** Appends file, seconds and seconds of the processor of each spec to `SVC_TEST_DURATIONS`, as test/durations.tsv has them. */
export const mochaHooks = {
  beforeAll(): void {
    begun = performance.now();
    processor = processorSeconds();
  },
  afterAll(this: Mocha.Context): void {
    const file = this.test?.parent?.suites[0]?.file;
    if (list === undefined || file === undefined) return;
    const taken = [(performance.now() - begun) / 1000, processorSeconds() - processor];
    appendFileSync(
      list,
      `${relative(ROOT, file)}\t${taken.map((seconds) => seconds.toFixed(1)).join('\t')}\n`,
    );
  },
};
