import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import Mocha from 'mocha';
import { lacking } from './needs.ts';

const { Spec } = Mocha.reporters;

/**
 * mocha's own reporter, which also writes the files of what failed, a line each, to `SVC_TEST_FAILED`, and of what was skipped to
 * `SVC_TEST_SKIPPED`: `.ci/run` runs them once more. The numbers of a whole suite stay in `SVC_EVIDENCE` (docs/evidence/index.md).
 * Where tests were skipped it says what the machine lacks.
 */
class NamingReporter extends Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const lacked = lacking();
      if (runner.stats?.pending && lacked.length > 0)
        Mocha.reporters.Base.consoleLog(`Skipped tests need what this machine lacks: ${lacked.join(', ')}.`);
      const evidence = process.env['SVC_EVIDENCE'];
      const { suite } = (options.reporterOptions ?? {}) as { readonly suite?: string };
      if (evidence === undefined || suite === undefined) return;
      mkdirSync(evidence, { recursive: true });
      writeFileSync(join(evidence, `${suite}.json`), JSON.stringify({ stats: runner.stats }));
    });
    const { EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;
    listFiles(runner, EVENT_TEST_FAIL, process.env['SVC_TEST_FAILED']);
    listFiles(runner, EVENT_TEST_PENDING, process.env['SVC_TEST_SKIPPED']);
  }
}

/** Appends the spec of each test of which `event` tells to `list`, each spec once. */
function listFiles(runner: Mocha.Runner, event: string, list: string | undefined): void {
  if (list === undefined) return;
  const named = new Set<string>();
  runner.on(event, ({ file = 'unknown' }: { readonly file?: string }) => {
    if (named.has(file)) return;
    named.add(file);
    appendFileSync(list, `${relative(process.cwd(), file)}\n`);
  });
}

// mocha takes its reporter by `require()`.
export { NamingReporter as 'module.exports' };
