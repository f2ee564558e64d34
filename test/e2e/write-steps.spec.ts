import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { TokenNode } from '../support/token-stores.ts';

const FAULTS = ['EIO', 'KILL'] as const;

interface Operation {
  readonly name: string;
  readonly file: string;
}

const OPERATIONS: readonly Operation[] = [
  { name: 'claim', file: 'pairing.json' },
  { name: 'mint', file: 'mcp-token.json' },
  { name: 'revoke', file: 'mcp-token.json' },
  { name: 'revoke-all', file: 'mcp-token.json' },
  { name: 'pin', file: 'dashboard-pin.json' },
  { name: 'config', file: 'config.yaml' },
];

interface Outcome {
  readonly output: string;
  readonly steps: readonly string[];
  readonly killed: boolean;
}

/** One operation in a process of its own, in which file system call number `at` fails. */
async function run(name: string, dir: string, at: number, how: string): Promise<Outcome> {
  const script = join(ROOT, 'test/support/store-operation.ts');
  const preload = join(ROOT, 'test/support/failing-writes.ts');
  const env = {
    ...process.env,
    SVC_ETC_DIR: dir,
    SVC_STATE_DIR: dir,
    SVC_RUN_DIR: dir,
    FAIL_AT: String(at),
    FAIL_HOW: how,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', preload, script, name], { env }, (error, stdout) => {
      const steps = /\nsteps (.*)\n/.exec(stdout)?.[1]?.split(' ') ?? [];
      resolve({ output: stdout, steps, killed: error?.signal === 'SIGKILL' });
    });
  });
}

describe('I1 I3 D11 a fault at each step of each write: the store holds the old state or the new one', function () {
  this.timeout(120_000);
  let base = '';
  before(async () => {
    base = await tempDir();
    // A node with a token already, so that there is something to lose.
    await new TokenNode(base).mint(['read']);
    await writeFile(join(base, 'config.yaml'), 'agent:\n  name: before\n', { mode: 0o600 });
  });
  after(async () => removeDir(base));

  for (const { name, file } of OPERATIONS) {
    it(name, async () => {
      const fresh = async (): Promise<string> => {
        const dir = join(base, `run-${Math.random().toString(36).slice(2)}`);
        await mkdir(dir);
        for (const entry of await readdir(base, { withFileTypes: true }))
          if (entry.isFile()) await cp(join(base, entry.name), join(dir, entry.name));
        return dir;
      };
      const clean = await run(name, await fresh(), 0, '');
      expect(clean.output).to.include('done');
      expect(clean.steps).to.include.members(['open', 'chmod', 'writeFile', 'sync', 'rename']);
      const before = await readFile(join(base, file), 'utf8').catch(() => null);
      for (const how of FAULTS) {
        for (let at = 1; at <= clean.steps.length; at++) {
          const dir = await fresh();
          const where = `${how} at step ${at}, ${clean.steps[at - 1] ?? ''}`;
          const outcome = await run(name, dir, at, how);
          if (how === 'KILL') expect(outcome.killed, where).to.equal(true);
          const path = join(dir, file);
          const now = await readFile(path, 'utf8').catch(() => null);
          if (how !== 'KILL') {
            // Whoever is told of a failure is told that nothing was changed, so nothing was.
            expect(outcome.output, where).to.match(/failed|done/);
            expect(now === before, `${where}: ${outcome.output}`).to.equal(outcome.output.includes('failed'));
          }
          if (now !== before) {
            // The new state: whole, private, and the next operation takes it up.
            expect(now, where).to.not.equal('');
            if (file.endsWith('.json')) expect(() => JSON.parse(now ?? ''), where).to.not.throw();
          }
          if (now !== null) expect((await stat(path)).mode & 0o777, where).to.equal(0o600);
          // Whatever happened, the store works again, and says `done` or its own clear refusal (paired already).
          const again = await run(name, dir, 0, '');
          expect(again.output, where).to.match(/^done|already paired/);
        }
      }
    });
  }
});
