import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import type { Outcome, Wanted } from '../support/store-operation.ts';
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

/** Runs operations until it is killed, which some of them do; then another one goes on. */
class Operator {
  #child: ChildProcessByStdio<Writable, Readable, null> | null = null;
  #answers: AsyncIterator<string> | null = null;

  /** In it file system call number `at` fails. @returns null: it was killed */
  async run(wanted: Wanted): Promise<Outcome | null> {
    if (this.#child === null || this.#answers === null) {
      const script = join(ROOT, 'test/support/store-operation.ts');
      this.#child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
      this.#answers = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    }
    this.#child.stdin.write(`${JSON.stringify(wanted)}\n`);
    const answer = await this.#answers.next();
    if (answer.done !== true) return JSON.parse(answer.value) as Outcome;
    const killed = this.#child;
    this.#child = null;
    if (killed.signalCode === null && killed.exitCode === null) await once(killed, 'exit');
    expect(killed.signalCode).to.equal('SIGKILL');
    return null;
  }

  end(): void {
    this.#child?.stdin.end();
  }
}

describe('I1 I3 D11 a fault at each step of each write: the store holds the old state or the new one', function () {
  this.timeout(120_000);
  let base = '';
  const operator = new Operator();
  before(async () => {
    base = await tempDir();
    // A node with a token already, so that there is something to lose.
    await new TokenNode(base).mint(['read']);
    await writeFile(join(base, 'config.yaml'), 'agent:\n  name: before\n', { mode: 0o600 });
  });
  after(async () => {
    operator.end();
    await removeDir(base);
  });

  for (const { name, file } of OPERATIONS) {
    it(name, async () => {
      const fresh = async (): Promise<string> => {
        const dir = join(base, `run-${Math.random().toString(36).slice(2)}`);
        await mkdir(dir);
        for (const entry of await readdir(base, { withFileTypes: true }))
          if (entry.isFile()) await cp(join(base, entry.name), join(dir, entry.name));
        return dir;
      };
      const run = async (dir: string, at = 0, how = ''): Promise<Outcome | null> =>
        operator.run({ name, dir, at, how });
      const { output: clean, steps = [] } = (await run(await fresh())) ?? {};
      expect(clean).to.equal('done');
      expect(steps).to.include.members(['open', 'chmod', 'writeFile', 'sync', 'rename']);
      const before = await readFile(join(base, file), 'utf8').catch(() => null);
      for (const how of FAULTS) {
        for (let at = 1; at <= steps.length; at++) {
          const dir = await fresh();
          const where = `${how} at step ${at}, ${steps[at - 1] ?? ''}`;
          const outcome = await run(dir, at, how);
          expect(outcome === null, where).to.equal(how === 'KILL');
          const path = join(dir, file);
          const now = await readFile(path, 'utf8').catch(() => null);
          if (outcome !== null) {
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
          const again = await run(dir);
          expect(again?.output, where).to.match(/^done|already paired/);
        }
      }
    });
  }
});
