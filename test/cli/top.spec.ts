import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { drawFrame } from '../../bin/top/frame.ts';
import type { Paths } from '../../shared/paths.ts';
import { KEY } from '../support/edge.ts';
import { fileSays } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const SVC = join(ROOT, 'bin/svc.js');
/** Of half a second. */
const PAST_INTERVAL_MS = 700;

function environment({ etc, run, state }: Paths): Readonly<Record<string, string>> {
  return { SVC_ETC_DIR: etc, SVC_RUN_DIR: run, SVC_STATE_DIR: state };
}

let terminals = 0;

/** A terminal of 80x24 in which `svc top` runs. */
class Terminal {
  readonly #name = `svct${process.pid}-${terminals++}`;
  /** All that was written to the terminal. */
  readonly #written: string;

  constructor(paths: Paths) {
    const names = Object.entries(environment(paths)).map(([name, value]) => `${name}=${value}`);
    const command = `env ${names.join(' ')} ${process.execPath} ${SVC} top --interval 0.5; echo "given back, code $?"; exec sleep 600`;
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'top', '-x', '80', '-y', '24', command);
    this.#written = join(paths.run, `${this.#name}.out`);
    this.#tmux('pipe-pane', '-t', 'top', `exec cat >'${this.#written}'`);
  }

  /** The process of `svc top` itself: the only child of the terminal's shell. */
  get pid(): number {
    const shell = this.#tmux('display-message', '-p', '-t', 'top', '#{pane_pid}').trim();
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim());
  }

  get cursorShown(): boolean {
    return this.#tmux('display-message', '-p', '-t', 'top', '#{cursor_flag}').trim() === '1';
  }

  /** Looks at the screen whenever something was written to it. */
  async until(wanted: (screen: string) => boolean): Promise<string> {
    let screen = '';
    await fileSays(this.#written, () => {
      screen = this.#tmux('capture-pane', '-p', '-t', 'top');
      return wanted(screen);
    });
    return screen;
  }

  keys(keys: string): void {
    this.#tmux('send-keys', '-t', 'top', keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-t', 'top', '-x', String(columns), '-y', String(rows));
  }

  /** May be called twice. */
  close(): void {
    spawnSync('tmux', ['-L', this.#name, 'kill-server']);
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#name, ...args], { encoding: 'utf8' });
  }
}

const OPTIONS = { columns: 80, rows: 24, colour: false, byMemory: false } as const;

const wide = Object.assign(new PassThrough(), { columns: 1e6 });
const editor = createInterface({ input: new PassThrough(), output: wide, terminal: true, prompt: '' });

/** Cells that a terminal needs for the line, counted by what Node's readline places its cursor with. */
function cells(line: string): number {
  Object.assign(editor, { line, cursor: line.length });
  return editor.getCursorPos().cols;
}

describe('svc top', () => {
  it('no line is wider than the window, and no more lines than it has, whatever the node says', () => {
    const json = fc.dictionary(
      fc.constantFrom('services', 'telemetry', 'mavlink', 'fc_firmware', 'armed', 'resources', 'version'),
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.dictionary(fc.constantFrom('name', 'state', 'memory_mb'), fc.anything())),
        fc.anything(),
      ),
    );
    fc.assert(
      fc.property(
        fc.option(json),
        fc.array(fc.dictionary(fc.constantFrom('message', 'level', 'logger'), fc.string({ unit: 'binary' }))),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 60 }),
        (status, warnings, columns, rows) => {
          const snapshot = {
            status: status,
            diagnostics: status,
            warnings,
            problem: null,
            at: 0,
          };
          const lines = drawFrame(snapshot, { ...OPTIONS, columns, rows });
          expect(lines.length).to.be.at.most(rows);
          for (const line of lines) {
            expect(cells(line), JSON.stringify(line)).to.be.at.most(columns);
            expect(line).to.not.match(/[\p{Cc}\p{Cf}]/u); // none may reach the terminal
          }
        },
      ),
      { seed: 6, numRuns: 300 },
    );
  });

  it('what was not measured is a dash', () => {
    const lines = drawFrame(
      { status: { services: [] }, diagnostics: null, warnings: [], problem: null, at: 0 },
      OPTIONS,
    );
    expect(lines.join('\n'))
      .to.include('battery – V – %')
      .and.include('gps fix – sats –')
      .and.include('ekf –');
  });

  describe('over a real node', () => {
    let node: TestNode;
    before(async () => {
      node = await TestNode.start({ pairing: { key: KEY } });
    });
    after(async () => node.stop());

    it('--once and --json without a terminal', async () => {
      const frame = await svc(node.paths, 'top', '--once');
      expect(frame.code).to.equal(0);
      expect(frame.stdout).to.include('svc-control').and.include('SIMULATED');
      const { stdout } = await svc(node.paths, 'top', '--once', '--json');
      expect(JSON.parse(stdout)).to.have.property('status').that.is.an('object');
    });

    it('--json ends when its reader does', async () => {
      const top = spawn(process.execPath, [SVC, 'top', '--json', '--interval', '0.5'], {
        env: { ...process.env, ...environment(node.paths) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const tooLong = setTimeout(() => top.kill('SIGKILL'), 10_000); // so that a failure leaves nothing running
      const ended = once(top, 'exit');
      await once(top.stdout, 'data');
      top.stdout.destroy();
      const [code] = (await ended) as [number | null];
      clearTimeout(tooLong);
      expect(code).to.equal(0);
    });
  });

  // Needs tmux, which .ci/run installs.
  (existsSync('/usr/bin/tmux') ? describe : describe.skip)('in a terminal (needs tmux)', () => {
    let node: TestNode;
    let terminal: Terminal;
    before(async () => {
      node = await TestNode.start({ pairing: { key: KEY } });
    });
    after(async () => node.stop());
    beforeEach(() => {
      terminal = new Terminal(node.paths);
    });
    afterEach(() => terminal.close());

    it('draws in 80x24 and anew when the window shrinks, and gives it back on q', async () => {
      const screen = await terminal.until((text) => /svc-control +running/.test(text));
      expect(screen)
        .to.match(/^svc \d+\.\d+\.\d+ {2}drone [0-9a-f]{12} /)
        .and.include('disarmed');
      expect(screen.split('\n').every((line) => cells(line) <= 80)).to.equal(true);
      terminal.resize(44, 10);
      const small = await terminal.until((text) => /^host .*…$/m.test(text));
      expect(small.split('\n').every((line) => cells(line) <= 44)).to.equal(true);
      expect(small).to.match(/^svc \d+\.\d+\.\d+ /); // nothing scrolled
      terminal.keys('q');
      const after = await terminal.until((text) => text.includes('given back'));
      expect(after).to.include('code 0').and.not.include('svc-control');
      expect(terminal.cursorShown).to.equal(true);
    });

    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      it(`gives the terminal back on ${signal}`, async () => {
        await terminal.until((text) => /svc-control +running/.test(text));
        process.kill(terminal.pid, signal);
        const after = await terminal.until((text) => text.includes('given back'));
        expect(after).to.not.include('svc-control');
        expect(terminal.cursorShown).to.equal(true);
      });
    }

    it('a node that hangs does not keep q; a node that is gone is said, and seen when it is back', async () => {
      await terminal.until((text) => /svc-control +running/.test(text));
      const pid = node.pid('svc-control');
      process.kill(pid, 'SIGSTOP');
      try {
        await terminal.until((text) => text.includes('no node: it did not answer within 5 s'));
        await delay(PAST_INTERVAL_MS); // the next look is under way, which nobody tells, and takes 5 s
        const pressed = performance.now();
        terminal.keys('q');
        await terminal.until((text) => text.includes('given back'));
        expect(performance.now() - pressed).to.be.below(4500);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      terminal.close();
      terminal = new Terminal(node.paths);
      await terminal.until((text) => /svc-control +running/.test(text));
      await node.stop({ keep: true });
      await terminal.until((text) => text.includes('no node: No node is running here'));
      node = await TestNode.resume(node, {});
      await terminal.until((text) => /svc-control +running/.test(text));
    });
  });

  it('colour only where it is asked for; cut text stays within its cells', () => {
    const status = { services: [{ name: 'svc-漢字漢字漢字', state: 'parked' }], armed: true };
    const snapshot = { status, diagnostics: null, warnings: [], problem: null, at: 0 };
    const plain = drawFrame(snapshot, { ...OPTIONS, columns: 12 }).join('\n');
    expect(plain).to.not.include('\u001b');
    expect(plain).to.include('svc-漢字漢…'); // 11 cells: the next would be half a character
    expect(drawFrame(snapshot, { ...OPTIONS, colour: true }).join('\n')).to.include('\u001b[31m');
  });

  it('without a node: says so, exit code 3', async () => {
    const paths = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' };
    const { code, stdout } = await svc(paths as Parameters<typeof svc>[0], 'top', '--once');
    expect(code).to.equal(3);
    expect(stdout).to.include('no node');
  });
});
