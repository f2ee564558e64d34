import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { type Secured, secureAsk, securedBy, selfSigned, shownBy } from '../support/secure.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { KEYED, play, startVideoNode, type Unit } from '../support/video-node.ts';

const run = promisify(execFile);

const JSON_BODY = { 'content-type': 'application/json' } as const;

describe('a node by HTTPS', () => {
  let node: TestNode;
  let secured: Secured;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, tlsPort: await freePort() });
    secured = await securedBy(node);
  });
  after(async () => node.stop());

  it('answers as by HTTP, refusals and their headers too', async () => {
    const moving = /^(?:date|connection|keep-alive|x-request-id|content-length|etag)$/;
    for (const [path, headers] of [
      ['/healthz', {}],
      ['/api/tls', {}],
      ['/ca.crt', {}],
      ['/api/config', KEYED],
      ['/api/status', {}],
      ['/api/status', { 'x-svc-key': 'svc_wrong' }],
      ['/nothing', KEYED],
      ['//x', KEYED],
      ['/api/command', KEYED],
    ] as const) {
      const plain = await node.request(path, { headers }).buffer();
      const secure = await secureAsk(secured, path, { headers });
      expect(secure.status, path).to.equal(plain.status);
      const kept = (all: Readonly<Record<string, unknown>>) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => !moving.test(name)));
      expect(kept(secure.headers), path).to.deep.equal(kept(plain.headers));
    }
  });

  it('is known to curl, OpenSSL and Python by /ca.crt alone, under each of its names', async () => {
    const file = join(node.base, 'ca.crt');
    await writeFile(file, secured.ca);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const url = `https://${host}:${secured.port}/healthz`;
      expect((await run('curl', ['-sS', '--cacert', file, url])).stdout, host).to.contain('"ok"');
    }
    // Throws where the certificate is not good.
    const strict = ['-CAfile', file, '-x509_strict', '-verify_return_error', '-brief'];
    execFileSync('openssl', ['s_client', '-connect', `127.0.0.1:${secured.port}`, ...strict], {
      input: '',
      stdio: 'pipe',
    });
    const python = `import ssl, urllib.request
context = ssl.create_default_context(cafile='${file}')
context.verify_flags |= ssl.VERIFY_X509_STRICT
print(urllib.request.urlopen('https://127.0.0.1:${secured.port}/healthz', context=context).status)`;
    expect((await run('python3', ['-c', python])).stdout.trim()).to.equal('200');
  });

  it('passes the checks of the conformance kit', async () => {
    const file = join(node.base, 'ca.crt');
    await writeFile(file, secured.ca);
    const args = [
      'bin/svc-conformance.js',
      '--url',
      `https://127.0.0.1:${secured.port}`,
      '--key',
      KEY,
      '--schemathesis',
      'none',
    ];
    const { stdout } = await run(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: file },
    }).catch((error: unknown) => error as { stdout: string });
    expect(stdout).to.match(/^ok /m);
    expect(stdout).to.not.match(/^not ok /m);
  });

  it('streams: a WebSocket of its own page, and none of a page in the clear', async () => {
    const url = `wss://127.0.0.1:${secured.port}/api/telemetry/ws`;
    const open = (origin: string) => new WebSocket(url, { ca: secured.ca, headers: KEYED, origin });
    const socket = open(`https://127.0.0.1:${secured.port}`);
    expect(String(((await once(socket, 'message')) as [Buffer])[0])).to.contain('attitude');
    socket.terminate();
    const foreign = open(`http://127.0.0.1:${secured.port}`);
    const [, refused] = (await once(foreign, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(refused.statusCode).to.equal(403);
    foreign.on('error', () => undefined).terminate();
  });

  it('tells whom to trust: the fingerprint is that of /ca.crt', async () => {
    const { body } = await node.json('/api/tls');
    expect(body).to.include({ port: secured.port, problem: null });
    expect(body['authority_sha256']).to.match(/^[0-9a-f]{64}$/);
    const digest = execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha256'], {
      input: secured.ca,
      encoding: 'utf8',
    });
    expect(digest.split('=')[1]?.trim().replaceAll(':', '').toLowerCase()).to.equal(body['authority_sha256']);
  });

  it('an address that comes is in the certificate, without a restart and with open WebSockets', async function () {
    if (noNamespaces() !== null) this.skip();
    this.timeout(60_000);
    const socket = new WebSocket(`wss://127.0.0.1:${secured.port}/api/telemetry/ws`, {
      ca: secured.ca,
      headers: KEYED,
    });
    await once(socket, 'message');
    const remote = await RemoteHost.create('10.93.4.1/24', '10.93.4.2/24');
    try {
      const shown = await askAgain(
        'the address is in the certificate',
        async () => shownBy(secured),
        ({ subjectaltname }) => subjectaltname?.includes('10.93.4.1') === true,
        30_000,
      );
      const file = join(node.base, 'ca.crt');
      const args = [
        ...remote.prefix.slice(1),
        'curl',
        '-sS',
        '--cacert',
        file,
        `https://10.93.4.1:${secured.port}/healthz`,
      ];
      expect((await run('ip', args)).stdout).to.contain('"ok"');
      expect(shown.issuer.CN).to.match(/^svc /);
      await once(socket, 'message');
      expect(socket.readyState).to.equal(WebSocket.OPEN);
    } finally {
      socket.terminate();
      await remote.destroy();
    }
  });

  it('the key of the authority leaves the node by no door', async () => {
    const text = await readFile(node.paths.tlsAuthority, 'utf8');
    const secret = /PRIVATE KEY-----\n(.{64})/.exec(text)?.[1] ?? '';
    expect(secret).to.have.length(64);
    const zip = join(node.base, 'bundle.zip');
    const bundle = await node.fetch('/api/v1/support-bundle', { headers: KEYED });
    await writeFile(zip, Buffer.from(await bundle.arrayBuffer()));
    const unpacked = execFileSync('unzip', ['-p', zip], { maxBuffer: 64 * 1024 * 1024 }).toString('latin1');
    expect(unpacked.length).to.be.above(1000);
    for (const where of [
      unpacked,
      node.stderr,
      (await secureAsk(secured, '/api/config', { headers: KEYED })).body.toString(),
    ])
      expect(where.includes(secret)).to.equal(false);
    // Nor does another file of the node have it, or another process be told it.
    const holders = execFileSync('grep', ['-rlF', '--', secret, node.base], { encoding: 'utf8' });
    expect(holders.trim()).to.equal(node.paths.tlsAuthority);
    expect((await stat(node.paths.tlsAuthority)).mode & 0o777).to.equal(0o600);
    for (const name of ['svc-supervisor', 'svc-control', 'svc-link', 'svc-residual', 'svc-sim'] as const)
      for (const told of ['cmdline', 'environ'])
        expect((await readFile(`/proc/${node.pid(name)}/${told}`, 'latin1')).includes(secret)).to.equal(
          false,
        );
  });

  it('no memory of a process that holds keys is written to the disk when it crashes', async () => {
    const units = join(ROOT, 'deploy/root/usr/lib/systemd/system');
    for (const unit of ['svc.service', 'svc-plugin@.service'])
      expect(await readFile(join(units, unit), 'utf8'), unit).to.match(/^LimitCORE=0$/m);
  });
});

describe('pictures by HTTPS', function () {
  this.timeout(60_000);
  let node: TestNode;
  let secured: Secured;
  before(async () => {
    node = await startVideoNode({ tlsPort: await freePort() });
    secured = await securedBy(node);
  });
  after(async () => node.stop());

  it('WHEP: offer, answer, pictures, and the end', async () => {
    const { promise: picture, resolve } = Promise.withResolvers<Unit>();
    const { peer, session } = await play(
      node,
      (unit) => {
        if (unit.key) resolve(unit);
      },
      async (offer) => {
        const headers = { ...KEYED, 'content-type': 'application/sdp' };
        const answer = await secureAsk(secured, '/whep', { method: 'POST', headers, body: offer });
        return { status: answer.status, sdp: answer.body.toString(), at: answer.headers.location ?? '' };
      },
    );
    expect((await picture).data.length).to.be.above(100);
    const ended = await secureAsk(secured, session, { method: 'DELETE', headers: KEYED });
    expect(ended.status).to.be.within(200, 204);
    await peer.close();
  });

  it('a snapshot, and the film from its first box on', async () => {
    const snapshot = await secureAsk(secured, '/api/video/snapshot', { headers: KEYED });
    expect(snapshot.body.subarray(0, 3).toString('hex')).to.equal('ffd8ff');
    const { port, ca } = secured;
    const asked = request({ host: '127.0.0.1', port, ca, path: '/api/video/live.mp4', headers: KEYED });
    asked.end();
    const [film] = (await once(asked, 'response')) as [IncomingMessage];
    expect(film.headers['content-type']).to.contain('video/mp4');
    const [first] = (await once(film, 'data')) as [Buffer];
    expect(first.subarray(4, 8).toString()).to.equal('ftyp');
    asked.destroy();
  });
});

describe('HTTPS that cannot be served', () => {
  it('a port that is taken: HTTP goes on, the problem is told, and HTTPS comes when the port is free', async function () {
    this.timeout(60_000);
    const taken = createServer().listen(0, '::');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const node = await TestNode.start({ pairing: { key: KEY }, tlsPort: port });
    try {
      const { body } = await node.json('/api/tls');
      expect(body).to.include({ port: null });
      expect(body['problem']).to.contain('api.tls_port');
      taken.close();
      await askAgain(
        'HTTPS is served',
        async () => (await node.json('/api/tls')).body['port'],
        (now) => now === port,
        30_000,
      );
      expect((await secureAsk(await securedBy(node), '/healthz')).status).to.equal(200);
    } finally {
      taken.close();
      await node.stop();
    }
  });

  it('whoever pairs has an authority that vouches for the name that was chosen before', async () => {
    const node = await TestNode.start({ tlsPort: await freePort() });
    try {
      const name = { key: 'agent.name', value: 'Field Kite' };
      expect(
        (await node.json('/api/config', { method: 'PUT', headers: JSON_BODY, body: JSON.stringify(name) }))
          .status,
      ).to.equal(200);
      const { status, body } = await node.post('/api/pairing/claim', { user_id: 'a' });
      expect(status, JSON.stringify(body)).to.equal(200);
      const told = (await node.json('/api/tls')).body;
      expect(told['names']).to.include('field-kite.local');
      expect((body['tls'] as Record<string, unknown>)['authority_sha256']).to.equal(told['authority_sha256']);
    } finally {
      await node.stop();
    }
  });

  it('an authority that is damaged: HTTP goes on, and the file stays as it is', async () => {
    const torn = '-----BEGIN CERTIFICATE-----\nMIIB';
    const node = await TestNode.start({
      pairing: { key: KEY },
      tlsPort: await freePort(),
      prepare: async ({ tlsAuthority }) => writeFile(tlsAuthority, torn, { mode: 0o600 }),
    });
    try {
      const { body } = await node.json('/api/tls');
      expect(body).to.include({ port: null, authority_sha256: null });
      expect(body['problem']).to.contain('tls-authority.pem');
      expect((await node.json('/ca.crt')).body).to.include({ code: 'E_NOT_FOUND' });
      expect(await readFile(node.paths.tlsAuthority, 'utf8')).to.equal(torn);
    } finally {
      await node.stop();
    }
  });
});

describe('an operator’s own certificate', () => {
  it('is used in place of the node’s, and a new one of it is taken without a restart', async function () {
    this.timeout(60_000);
    const folder = await tempDir();
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const make = async (name: string): Promise<string> => {
      await selfSigned(name, cert, key);
      return readFile(cert, 'utf8');
    };
    let ca = await make('first');
    const port = await freePort();
    const node = await TestNode.start({
      pairing: { key: KEY },
      tlsPort: port,
      ownCertificate: { cert, key },
    });
    try {
      expect((await shownBy({ port, ca })).subject.CN).to.equal('first');
      expect((await node.json('/api/tls')).body).to.include({ port, authority_sha256: null, problem: null });
      ca = await make('second');
      await askAgain(
        'the second is shown',
        async () => shownBy({ port, ca }).catch(() => null),
        (shown) => shown?.subject.CN === 'second',
        30_000,
      );
      await writeFile(key, 'torn');
      await askAgain(
        'the problem is told',
        async () => (await node.json('/api/tls')).body['problem'],
        (problem) => problem !== null,
        30_000,
      );
      expect((await shownBy({ port, ca })).subject.CN).to.equal('second');
    } finally {
      await node.stop();
      await removeDir(folder);
    }
  });
});

describe('security.require_tls, from another host', () => {
  it('refuses the key in the clear, sends the page to HTTPS, and leaves this machine alone', async function () {
    if (noNamespaces() !== null) this.skip();
    const remote = await RemoteHost.create('10.93.5.1/24', '10.93.5.2/24');
    const node = await TestNode.start({
      pairing: { key: KEY },
      tlsPort: await freePort(),
      config: 'security: {require_tls: true}\n',
    });
    try {
      const near = `http://10.93.5.1:${node.port}`;
      const refused = await remote.call({ url: `${near}/api/status`, headers: KEYED });
      expect(refused.status).to.equal(403);
      const { port, ca } = await securedBy(node);
      expect(JSON.parse(refused.body)).to.include({ code: 'E_TLS_REQUIRED', tls_port: port });
      expect(
        (await remote.call({ url: `${near}/api/telemetry/ws`, headers: KEYED, upgrade: true })).status,
      ).to.equal(403);
      const file = join(node.base, 'ca.crt');
      await writeFile(file, ca);
      const curl = async (...args: string[]) =>
        (await run('ip', [...remote.prefix.slice(1), 'curl', '-sS', '--cacert', file, ...args])).stdout;
      expect(await curl('-o', '/dev/null', '-w', '%{http_code} %{redirect_url}', `${near}/?a=1`)).to.equal(
        `308 https://10.93.5.1:${port}/?a=1`,
      );
      expect(await curl('-H', `x-svc-key: ${KEY}`, `https://10.93.5.1:${port}/api/status`)).to.contain(
        '"uptime_seconds"',
      );
      expect((await node.json('/api/status', { headers: KEYED })).status).to.equal(200);
    } finally {
      await node.stop();
      await remote.destroy();
    }
  });
});
