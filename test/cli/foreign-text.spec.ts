import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { nodePaths } from '../../bin/places.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const FORGED = 'paired and safe';
/** As a hostile node may name anything. */
const HOSTILE = `kestrel\nnode      ${FORGED}\r\n\u001b[2J\u009b31m\u2028${FORGED}\u202e`;

describe('text of a hostile node, at the terminal', () => {
  let server: Server;
  let host: string;
  let folder: string;
  before(async () => {
    folder = await tempDir();
    server = createServer(({ url = '' }, response) => {
      const [path] = url.split('?');
      const entry = { timestamp: HOSTILE, level: 'info', logger: HOSTILE, message: HOSTILE };
      const answers: Readonly<Record<string, unknown>> = {
        '/api/pairing/info': { name: HOSTILE },
        '/api/plugins/a.b/logs': { entries: [entry, entry] },
        '/api/peripherals': { peripherals: [] },
      };
      const answer = answers[path ?? ''];
      response.writeHead(answer === undefined ? 422 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { code: 'E_INVALID_VALUE', detail: HOSTILE, status: 422 }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  });
  after(async () => {
    server.close();
    await removeDir(folder);
  });

  for (const [what, words, lines] of [
    ['a name', ['node', 'name'], 1],
    ['a log', ['plugin', 'logs', 'a.b'], 2],
    ['a refusal', ['rtk'], null],
  ] as const)
    it(`${what}: begins no line of its own, and controls nothing`, async () => {
      const at = { etc: folder, run: folder, state: folder };
      const { stdout, stderr } = await svc({ ...nodePaths({}, null), ...at }, ...words, '--host', host);
      const said = stdout + stderr;
      expect(said).to.include(FORGED);
      expect(said).to.match(/^[\P{C}\n]*$/u);
      if (lines !== null) expect(stdout.trim().split('\n')).to.have.length(lines);
      for (const line of said.split('\n')) expect(line.trimStart().startsWith('node      ')).to.equal(false);
    });

  it('--json says what the node said', async () => {
    const at = { etc: folder, run: folder, state: folder };
    const { stdout } = await svc({ ...nodePaths({}, null), ...at }, 'node', 'name', '--json', '--host', host);
    expect(JSON.parse(stdout)).to.include({ name: HOSTILE });
  });
});
