import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { drawFrame } from '../../bin/top/frame.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const OPTIONS = { columns: 80, rows: 24, colour: false, byMemory: false } as const;

describe('svc top', () => {
  it('no line is wider than the window, and no more lines than it has, whatever the node says', () => {
    const json = fc.dictionary(
      fc.constantFrom('services', 'telemetry', 'mavlink', 'fc_firmware', 'armed', 'resources', 'version'),
      fc.oneof(
        fc.string(),
        fc.array(fc.dictionary(fc.constantFrom('name', 'state', 'memory_mb'), fc.anything())),
        fc.anything(),
      ),
    );
    fc.assert(
      fc.property(
        fc.option(json),
        fc.array(fc.dictionary(fc.constantFrom('message', 'level', 'logger'), fc.string())),
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
            expect([...line].length).to.be.at.most(columns);
            expect(line).to.not.match(/\p{Cc}/u); // none may reach the terminal
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
      const once = await svc(node.paths, 'top', '--once');
      expect(once.code).to.equal(0);
      expect(once.stdout).to.include('svc-control').and.include('SIMULATED');
      const { stdout } = await svc(node.paths, 'top', '--once', '--json');
      expect(JSON.parse(stdout)).to.have.property('status').that.is.an('object');
    });

    it('draws in a terminal of 80x24, and gives it back on q', async function () {
      if (!existsSync('/usr/bin/tmux')) this.skip();
      const session = `svct${process.pid}`;
      const tmux = (...args: string[]): string =>
        execFileSync('tmux', ['-L', session, ...args], { encoding: 'utf8' });
      const { etc, run, state } = node.paths;
      const command = `SVC_ETC_DIR=${etc} SVC_RUN_DIR=${run} SVC_STATE_DIR=${state} ${process.execPath} ${join(ROOT, 'bin/svc.js')} top --interval 0.5; echo given-back; exec sleep 60`;
      tmux('new-session', '-d', '-s', 'top', '-x', '80', '-y', '24', command);
      try {
        const until = async (wanted: (screen: string) => boolean): Promise<string> => {
          for (;;) {
            const screen = tmux('capture-pane', '-p', '-t', 'top');
            if (wanted(screen)) return screen;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        };
        const screen = await until((text) => /svc-control +running/.test(text));
        expect(screen)
          .to.match(/^svc 0\.1\.0 {2}drone/)
          .and.include('disarmed');
        expect(screen.split('\n').every((line) => line.length <= 80)).to.equal(true);
        tmux('send-keys', '-t', 'top', 'q');
        const after = await until((text) => text.includes('given-back'));
        expect(after).to.not.include('svc-control');
      } finally {
        tmux('kill-server');
      }
    });
  });

  it('without a node: says so, exit code 3', async () => {
    const paths = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' };
    const { code, stdout } = await svc(paths as Parameters<typeof svc>[0], 'top', '--once');
    expect(code).to.equal(3);
    expect(stdout).to.include('no node');
  });
});
