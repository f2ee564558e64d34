import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const run = promisify(execFile);
const CLEARED = '\r\u001b[K';
const EXPORTED = `${JSON.stringify({ msg: 'x'.repeat(100) })}\n`.repeat(20_000);
const NOWHERE = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];

/** Answers as a node that is downloading: a quarter, all but the end, then everything. */
class SlowNode {
  readonly #server: Server;
  asked = 0;

  constructor() {
    this.#server = createServer((req, res) => {
      if (req.url?.startsWith('/api/logs/export') === true) return res.end(EXPORTED);
      const got = [10, 39, 40][this.asked++] ?? 40;
      const priming = got < 40;
      res.setHeader('content-type', 'application/json');
      return res.end(
        JSON.stringify({ params: { WPNAV_SPEED: 500 }, priming, progress: { got, expected: 40 } }),
      );
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describe('progress', () => {
  let node: SlowNode;
  let host: string;
  let folder: string;
  beforeEach(async () => {
    node = new SlowNode();
    host = await node.start();
    folder = await tempDir();
  });
  afterEach(async () => {
    node.stop();
    await removeDir(folder);
  });

  /** All that the command writes to a terminal. Through `script`, which every Linux has with its util-linux. */
  const inTerminal = async (...args: readonly string[]): Promise<string> => {
    const command = [process.execPath, join(ROOT, 'bin/svc.js'), ...args, '--host', host].join(' ');
    return (await run('script', ['-qefc', command, '/dev/null'])).stdout;
  };
  const withTerminal = existsSync('/usr/bin/script') ? it : it.skip;

  withTerminal(
    'params list shows on a terminal how far the download is, then clears it (needs script)',
    async () => {
      const shown = await inTerminal('params', 'list');
      expect(shown).to.include('10 of 40').and.include('39 of 40');
      expect(shown.split(CLEARED).at(-1)).to.match(/^NAME +VALUE\r\n.*WPNAV_SPEED +500\r\n$/s);
      expect(node.asked).to.equal(3);
    },
  );

  withTerminal('params save and logs export too (needs script)', async () => {
    const saved = await inTerminal('params', 'save', join(folder, 'a.param'));
    expect(saved)
      .to.include('39 of 40')
      .and.match(/a\.param: 1 parameters\r\n$/);
    const exported = await inTerminal('logs', 'export', '-o', join(folder, 'a.jsonl'));
    expect(exported).to.match(/\r\d\.\d MB/);
    expect(exported.split(CLEARED).at(-1)).to.include(`${EXPORTED.length} bytes`);
  });

  it('without a terminal there is none', async () => {
    const { code, stdout, stderr } = await svc(NOWHERE, 'params', 'list', '--host', host);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^NAME +VALUE\nWPNAV_SPEED +500\n$/);
    const file = join(folder, 'b.jsonl');
    const exported = await svc(NOWHERE, 'logs', 'export', '-o', file, '--host', host);
    expect({ code: exported.code, stderr: exported.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await readFile(file, 'utf8')).to.equal(EXPORTED);
  });
});
