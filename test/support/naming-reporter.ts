import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';
import { lacking } from './needs.ts';

const { Spec } = Mocha.reporters;

/**
 * mocha's own reporter, which also writes the files of what failed, a line each, to `SVC_TEST_FAILED`: `.ci/run` runs them once
 * more, alone. Where tests were skipped it says what the machine lacks.
 */
class NamingReporter extends Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const lacked = lacking();
      if (runner.stats?.pending && lacked.length > 0)
        Mocha.reporters.Base.consoleLog(`Skipped tests need what this machine lacks: ${lacked.join(', ')}.`);
    });
    const list = process.env['SVC_TEST_FAILED'];
    if (list === undefined) return;
    const named = new Set<string>();
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, ({ file = 'unknown' }: { readonly file?: string }) => {
      if (named.has(file)) return;
      named.add(file);
      appendFileSync(list, `${relative(process.cwd(), file)}\n`);
    });
  }
}

// mocha takes its reporter by `require()`.
export { NamingReporter as 'module.exports' };
