import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeExtension } from '../support/extensions.ts';
import { describeWith } from '../support/needs.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** A server with a certificate of its own, which the node is told to trust. */
async function secureServer(folder: string): Promise<{ server: Server; port: number; certificate: string }> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      key,
      '-out',
      certificate,
    ],
    { stdio: 'ignore' },
  );
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, certificate };
}

describeWith('openssl')('an extension from an address', function () {
  this.timeout(60_000);
  const id = 'org.example.remote';
  let folder: string;
  let server: Server;
  let plugins: PluginNode;
  let base: string;
  let archive: Buffer;
  let sha256: string;

  before(async () => {
    folder = await tempDir();
    const made = await secureServer(folder);
    ({ server } = made);
    base = `https://localhost:${made.port}`;
    plugins = await PluginNode.start({
      config: `plugins:\n  url_hosts: ["localhost:${made.port}"]\n`,
      env: { NODE_EXTRA_CA_CERTS: made.certificate },
    });
    archive = await readFile(await makeExtension({ id, signer: plugins.signer }));
    sha256 = createHash('sha256').update(archive).digest('hex');
    server.on('request', (req, res) => {
      switch (req.url) {
        case '/good':
          res.end(archive);
          return;
        case '/moved':
          res.writeHead(302, { location: '/good' }).end();
          return;
        case '/away':
          res.writeHead(302, { location: 'https://evil.example/good' }).end();
          return;
        case '/round':
          res.writeHead(302, { location: '/round' }).end();
          return;
        case '/endless':
          res.writeHead(200);
          res.on('drain', () => res.write(Buffer.alloc(1_000_000)));
          res.write(Buffer.alloc(1_000_000));
          return;
        case '/half':
          res.writeHead(200, { 'content-length': archive.length });
          res.end(archive.subarray(0, 10));
          res.socket?.destroySoon();
          return;
        default:
          res.writeHead(404).end();
      }
    });
  });
  after(async () => {
    await plugins.node.stop();
    server.closeAllConnections();
    server.close();
    await removeDir(folder);
  });

  const install = async (path: string, expected = sha256) =>
    plugins.call('POST', '/api/plugins/install_from_url', {
      url: path.startsWith('/') ? `${base}${path}` : path,
      expected_sha256: expected,
    });

  const REFUSED: readonly [string, string, number, string][] = [
    ['that is not https', 'http://localhost/good', 400, 'url_invalid'],
    ['of a host that is not allowed', 'https://example.com/good', 400, 'url_invalid'],
    ['with a password in it', 'https://user:pass@localhost/good', 400, 'url_invalid'],
    ['that leads to another host', '/away', 400, 'url_invalid'],
    ['that leads in a circle', '/round', 502, 'download_failed'],
    ['with nothing there', '/none', 502, 'download_failed'],
    ['whose content breaks off', '/half', 502, 'download_failed'],
    ['whose content does not end', '/endless', 413, 'archive_too_large'],
  ];
  for (const [what, path, status, kind] of REFUSED) {
    it(`${what}: ${kind}, and nothing is left`, async () => {
      const answer = await install(path);
      expect([answer.status, answer.body['kind']], JSON.stringify(answer.body)).to.deep.equal([status, kind]);
      expect(answer.body['ok']).to.equal(false);
      expect(await readdir(join(plugins.node.paths.plugins, '.incoming'))).to.deep.equal([]);
    });
  }

  it('whose content is not the expected: sha256_mismatch, which does not tell the real one', async () => {
    const { status, body } = await install('/good', '0'.repeat(64));
    expect([status, body['kind'], body['code']]).to.deep.equal([400, 'sha256_mismatch', 12]);
    expect(JSON.stringify(body)).to.not.include(sha256);
    const missing = await plugins.call('POST', '/api/plugins/install_from_url', { url: `${base}/good` });
    expect([missing.status, missing.body['error']]).to.deep.equal([422, 'E_INVALID_VALUE']);
  });

  it('is installed, also over a redirect to the same host, with its progress as events', async () => {
    const { status, body } = await install('/moved');
    expect([status, body['plugin_id'], body['sha256']]).to.deep.equal([200, id, sha256]);
    const record = await plugins.record(id);
    expect(record).to.include({ source: 'git_url', source_uri: `${base}/moved`, signer_id: 'tester' });
    const answer = await plugins.node.fetch('/api/plugins/install_from_url', {
      method: 'POST',
      headers: { ...PluginNode.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ url: `${base}/good`, expected_sha256: sha256 }),
    });
    const text = await answer.text();
    expect(text).to.include('event: progress').and.to.include('downloading');
    expect(/event: result\ndata: (.*)/.exec(text)?.[1]).to.include('"status":200');
  });
});
