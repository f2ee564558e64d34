import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const BASELINE = join(import.meta.dirname, 'mcp-conformance-baseline.yml');

/** The suite sends no credential: this adds the token on the way, and changes nothing else. */
async function withToken(url: string, token: string): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(url);
  const proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const onward = request(
      {
        host: target.hostname,
        port: target.port,
        path: req.url ?? '/',
        method: req.method ?? 'GET',
        headers,
      },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`,
    close() {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

describe('the official conformance suite', function () {
  this.timeout(240_000);

  it('passes but for the baseline, and the baseline holds nothing that passes', async () => {
    const home = await tempDir();
    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'mcp:\n  token_accept_enabled: true\n',
    });
    try {
      const scopes = ['read', 'safe_write', 'admin', 'flight', 'destructive', 'secret_read'];
      const { body } = await node.post(
        '/api/mcp/tokens',
        { scopes, label: 'conformance' },
        { 'x-svc-key': KEY },
      );
      await using connector = await HttpConnector.start({
        args: ['--target', 'agent', node.url, '--flight-enforced'],
        home,
        key: KEY,
      });
      const proxy = await withToken(connector.url, String(body['token']));
      const args = [
        SUITE,
        'server',
        '--url',
        proxy.url,
        '--suite',
        'all',
        '--expected-failures',
        BASELINE,
        '-o',
        home,
      ];
      const suite = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [suite.stdout, suite.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(suite, 'close')) as [number | null];
      proxy.close();
      expect(code, said.slice(-3000)).to.equal(0);
      expect(said).to.match(/Total: 1\d\d passed/);
    } finally {
      await node.stop();
      await removeDir(home);
    }
  });
});
