import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { connectAsync } from 'mqtt';
import { readHubConfig } from '../../bin/hub/config.ts';
import { parseCode } from '../../shared/fleet/code.ts';
import { gone } from '../support/events.ts';
import { failing, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { ROOT } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const missing = noMosquitto();
const ENTRY = join(ROOT, 'bin/svc-hub.js');
const run = promisify(execFile);

describe(`svc-hub as a process${missing === null ? '' : ` (${missing})`}`, () => {
  let hub: TestHub;
  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.start();
  });
  after(async () => hub?.stop());

  it('init makes keys that only its user may read, and refuses to make a second hub', async () => {
    for (const name of [
      'ca.key',
      'signing.key',
      'server.key',
      'mqtt.key',
      'broker.key',
      'audit.key',
      'hub.db',
    ])
      expect((await stat(join(hub.folder, name))).mode & 0o777, name).to.equal(0o600);
    expect((await stat(hub.folder)).mode & 0o777).to.equal(0o700);
    expect((await failing(hub.command(['init']))).stderr).to.include('already');
  });

  it('a certificate and its key in one file are what a balancer wants', async () => {
    for (const name of ['broker', 'server', 'mqtt']) {
      const both = `${await hub.text(`${name}.pem`)}${await hub.text(`${name}.key`)}`;
      expect(() => createSecureContext({ cert: both, key: both }), name).not.to.throw();
    }
  });

  it('of two that init at once one makes a hub, and the other says so: no credential is void', async () => {
    const folder = join(hub.folder, '..', 'both');
    const init = async () => TestHub.initIn(folder);
    const both = await Promise.allSettled([init(), init()]);
    const made = both.filter((each) => each.status === 'fulfilled');
    const refused = both.filter((each) => each.status === 'rejected');
    expect([made.length, refused.length]).to.deep.equal([1, 1]);
    expect(String(refused[0]?.reason)).to.include('already');
  });

  it('a second hub in the same folder does not start', async () => {
    const { code, stderr } = await failing(hub.command(['serve']));
    expect({ code, stderr }).to.deep.include({ code: 1 });
    expect(stderr).to.include('already');
  });

  it('code, operator, audit and mosquitto do what they say; wrong words are usage', async () => {
    const env = { SVC_HUB_CREDENTIAL: hub.operator };
    expect(parseCode((await hub.command(['code'], env)).stdout)).not.to.equal(null);
    const credential = (await hub.command(['operator', 'ada'])).stdout.trim();
    expect((await hub.call('GET', '/v1/me', { credential })).body).to.include({ name: 'ada' });
    expect((await hub.command(['audit', 'verify'])).stdout).to.include('the chain is whole');
    expect((await hub.command(['mosquitto'])).stdout).to.include('require_certificate true');
    expect((await failing(hub.command(['fly']))).code).to.equal(2);
    expect((await failing(hub.command(['code']))).code).to.equal(2);
  });

  it('a backup is whole while the hub writes, and has no key in it', async () => {
    const file = join(hub.folder, '..', 'backup.db');
    const writing = Promise.all(Array.from({ length: 20 }, async (_, n) => hub.enroll(`node-${n}`)));
    await hub.command(['backup', file]);
    await writing;
    const copy = new DatabaseSync(file, { readOnly: true });
    expect(copy.prepare('PRAGMA integrity_check').get()).to.deep.include({ integrity_check: 'ok' });
    expect(copy.prepare('SELECT count(*) AS n FROM operators').get()?.['n']).to.be.at.least(1);
    copy.close();
    expect((await readFile(file)).includes('PRIVATE KEY')).to.equal(false);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await failing(hub.command(['backup', file]))).stderr).to.include('exists');
  });

  it('after a restore no code from before it counts: it may have been used', async () => {
    const file = join(hub.folder, '..', 'restored.db');
    const [used, unused] = [await hub.secret(), await hub.secret()];
    await hub.command(['backup', file]);
    await hub.enroll('before-restore', used);
    // Whoever ends somebody tells the nodes: a policy with a higher number than in the backup.
    const { body } = await hub.call('POST', '/v1/operators', { body: { name: 'gone', scopes: ['read'] } });
    await hub.call('DELETE', `/v1/operators/${String(body['id'])}`);
    await hub.kill('SIGTERM');
    for (const ending of ['-wal', '-shm'])
      await rm(`${join(hub.folder, 'hub.db')}${ending}`, { force: true });
    await rename(file, join(hub.folder, 'hub.db'));
    await hub.serve();
    await hub.logged('was restored');
    for (const [id, secret] of [
      ['thief', used],
      ['late', unused],
    ] as const)
      expect(await hub.enroll(id, secret).catch(String), id).to.include('E_CODE');
    await hub.enroll('after-restore');
    await hub.kill('SIGTERM');
    await hub.serve();
    await hub.enroll('after-restart');
    expect(hub.times('was restored'), 'said once').to.equal(0);
  });

  it('a further key is listed beside the first, which goes on signing until it is retired', async () => {
    let asked = 0;
    const keysOf = async () => {
      const { policy } = (await hub.enroll(`asking-${++asked}`)).enrolled;
      const [head = '', body = ''] = policy
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString());
      const { keys } = JSON.parse(body) as { readonly keys: readonly { readonly x: string }[] };
      return { kid: (JSON.parse(head) as { readonly kid: string }).kid, keys: keys.map(({ x }) => x) };
    };
    const restart = async (verb: string) => {
      await hub.command(['key', verb]);
      await hub.kill('SIGTERM');
      await hub.serve();
      return keysOf();
    };
    const one = await keysOf();
    const two = await restart('add');
    expect(two.keys).to.have.length(2);
    expect(two.keys[0]).to.equal(one.keys[0]);
    expect(two.kid).to.equal(one.kid);
    const last = await restart('retire');
    expect(last.keys).to.deep.equal([two.keys[1]]);
    expect(last.kid).not.to.equal(one.kid);
    expect((await failing(hub.command(['key', 'retire']))).stderr).to.include('only one key');
  });

  it('its broker ends with it, also when it is killed, and no temporary file stays', async () => {
    const broker = hub.brokerPid;
    await hub.kill();
    await gone(broker);
    await hub.serve();
    expect((await readdir(hub.folder)).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('a lost, emptied or new database is refused with the way to restore it, by every command, and is not touched', async () => {
    await hub.kill('SIGTERM');
    const file = join(hub.folder, 'hub.db');
    const kept = join(hub.folder, '..', 'kept.db');
    await rename(file, kept);
    const blank = join(hub.folder, '..', 'blank.db');
    const other = new DatabaseSync(blank);
    other.exec('PRAGMA user_version = 1; CREATE TABLE operators (id TEXT PRIMARY KEY)');
    other.close();
    const commands = [['serve'], ['operator', 'eve'], ['backup', `${file}.copy`], ['--demo']];
    for (const [content, why] of [
      [null, 'is missing'],
      [Buffer.alloc(0), 'is empty'],
      [await readFile(blank), 'has nobody in it'],
    ] as const) {
      if (content !== null) await writeFile(file, content);
      await writeFile(`${file}-wal`, 'all that was written last');
      for (const command of content === null ? commands : commands.slice(0, 1)) {
        const { code, stderr } = await failing(hub.command(command));
        expect(code, command.join(' ')).to.equal(1);
        expect(stderr).to.include(why).and.to.include('Put a backup in its place');
        const found = await readFile(file).catch(() => null);
        expect(found, 'nothing was made').to.deep.equal(content);
        if (content === null || content.length === 0)
          expect(await readFile(`${file}-wal`, 'utf8')).to.equal('all that was written last');
      }
    }
    await rm(`${file}-wal`, { force: true });
    await rm(`${file}-shm`, { force: true });
    await rename(kept, file);
    await hub.serve();
    expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
  });

  it('--demo makes a hub, starts its broker, and prints the credential once and a code each time', async () => {
    const base = await tempDir();
    const ports = (await Promise.all([freePort(), freePort(), freePort()])).map(String);
    const flags = ['--port', ports[0] ?? '', '--https-port', ports[1] ?? '', '--broker-port', ports[2] ?? ''];
    const printed = async (): Promise<string> => {
      const child = spawn(process.execPath, [ENTRY, '--demo', ...flags], {
        cwd: base,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let text = '';
      child.stdout.setEncoding('utf8');
      const shown = Promise.withResolvers<void>();
      child.stdout.on('data', (part: string) => {
        text += part;
        if (text.includes('Ctrl-C')) shown.resolve();
      });
      await shown.promise;
      child.kill('SIGINT');
      await once(child, 'exit');
      return text;
    };
    const [first, second] = [await printed(), await printed()];
    expect(first)
      .to.match(/svc_op_[0-9a-f]{16}_/)
      .and.to.match(/svc fleet enroll https:\/\/127\.0\.0\.1:\d+ svc1-/);
    expect(second).to.match(/svc1-/).and.not.to.include('svc_op_');
    const { http, https } = await readHubConfig(join(base, '.svc-hub/hub.yaml'));
    expect([http.host, https.host], 'a demo stays on this machine').to.deep.equal(['127.0.0.1', '127.0.0.1']);
    await removeDir(base);
  });

  it('has its broker take WebSockets too, tells nodes where, and goes that way itself where the other is closed', async () => {
    const ws = await freePort();
    const other = await TestHub.init('--ws-port', String(ws));
    const file = join(other.folder, 'hub.yaml');
    const text = await readFile(file, 'utf8');
    // Its Mosquitto listens on 127.0.0.1 alone.
    await writeFile(file, text.replace('mqtts://127.0.0.1:', 'mqtts://127.0.0.2:'), { mode: 0o600 });
    expect((await other.command(['mosquitto'])).stdout).to.match(
      new RegExp(`listener ${ws} 127.0.0.1\nprotocol websockets\n(.+\n){3}require_certificate true`),
    );
    await other.serve();
    try {
      expect(other.stderr).to.include('127.0.0.2');
      const node = await other.enroll('by-socket');
      expect(node.enrolled.broker_ws).to.equal(`wss://127.0.0.1:${ws}/mqtt`);
      const { ca, certificate: cert, broker_ws: url = '' } = node.enrolled;
      const client = await connectAsync(url, {
        ca,
        cert,
        key: node.tlsKey,
        protocolVersion: 5,
        reconnectPeriod: 0,
      });
      const topic = `svc/1/${node.enrolled.fleet}/by-socket/presence`;
      const presence = { online: true, session: 's', at: 0, version: '1', profile: 'drone', name: 'n' };
      const online = other.streamed((_, data) => data['id'] === 'by-socket' && data['online'] === true);
      await client.publishAsync(topic, JSON.stringify(presence), { qos: 1, retain: true });
      await online;
      await client.endAsync(true);
    } finally {
      await other.stop();
    }
  });

  it('refuses an address by WebSocket that is none', async () => {
    const other = await TestHub.init();
    const file = join(other.folder, 'hub.yaml');
    const text = await readFile(file, 'utf8');
    for (const [from, to] of [
      ['ws_url: null', 'ws_url: ws://hub.example/mqtt'],
      ['ws_url: null', 'ws_url: wss://user:word@hub.example/mqtt'],
      ['listen_ws: null', 'listen_ws: { port: 443 }'],
    ] as const) {
      await writeFile(file, text.replace(from, to), { mode: 0o600 });
      const { code, stderr } = await failing(other.command(['serve']));
      expect({ code, to }).to.deep.equal({ code: 1, to });
      expect(stderr).to.match(/ws_url|listen_ws/);
    }
    await other.stop();
  });

  it('says in one sentence what is wrong with its config', async () => {
    const folder = join(await tempDir(), 'none');
    const { stderr, code } = await failing(run(process.execPath, [ENTRY, 'serve', '--dir', folder]));
    expect(code).to.equal(1);
    expect(stderr).to.include('svc-hub init makes it');
    await removeDir(join(folder, '..'));
  });
});
