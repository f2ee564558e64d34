import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { HttpConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { FleetHub } from '../support/fleet-hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
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

/** Runs it against a connector; it passes but for the baseline, and the baseline holds nothing that passes. What it says is kept in SVC_EVIDENCE. */
async function conforms(
  target: 'node' | 'fleet',
  connectorUrl: string,
  token: string,
  home: string,
): Promise<void> {
  const proxy = await withToken(connectorUrl, token);
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
  const evidence = process.env['SVC_EVIDENCE'];
  if (evidence === undefined) return;
  const kept = join(evidence, 'mcp-conformance', target);
  await rm(kept, { recursive: true, force: true });
  for (const folder of await readdir(home))
    if (folder.startsWith('server-')) await cp(join(home, folder), join(kept, folder), { recursive: true });
}

describe('the official conformance suite', function () {
  this.timeout(240_000);

  it('passes with a node but for the baseline, and the baseline holds nothing that passes', async () => {
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
      await conforms('node', connector.url, String(body['token']), home);
    } finally {
      await node.stop();
      await removeDir(home);
    }
  });

  it('and with a fleet', async function () {
    if (noMosquitto() !== null) return this.skip();
    const home = await tempDir();
    await using hub = await FleetHub.start(home);
    await hub.node('drone-1');
    const token = hub.credential(['read', 'safe_write', 'admin', 'flight', 'destructive']);
    const args = ['--target', 'fleet', '--gcs', hub.url, '--token', token, '--flight-enforced'];
    await using connector = await HttpConnector.start({ args, home });
    await conforms('fleet', connector.url, token, home);
    await removeDir(home);
    return undefined;
  });
});
