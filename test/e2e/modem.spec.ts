import { execFile, spawn } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { worksAtLast } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { RealNetworkManager } from '../support/network/network-manager.ts';
import { ROOT, TestNode } from '../support/node.ts';

const run = promisify(execFile);
type Body = Record<string, unknown>;

describe('cellular modems, with the real NetworkManager and mmcli', function () {
  this.timeout(180_000);
  let manager: RealNetworkManager;
  let node: TestNode;

  /** A request from beside the node: it is in a network namespace. */
  const send = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const url = `http://127.0.0.1:${node.port}${path}`;
    const content = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const args = [...manager.prefix.slice(1), 'curl', '-s', '-X', method, '-H', `x-svc-key: ${KEY}`];
    const { stdout } = await run('nsenter', [...args, ...(body === undefined ? [] : content), url]);
    return JSON.parse(stdout) as Body;
  };
  const modems = async (): Promise<Body[]> => {
    const body = await send('GET', '/api/v1/network/modem');
    expect(body['modems'], JSON.stringify(body)).to.be.an('array');
    return body['modems'] as Body[];
  };
  const put = async (body: Body): Promise<Body> => send('PUT', '/api/v1/network/modem', body);
  const pins = async (): Promise<readonly string[]> => (await manager.askedOfModems()).pins;
  const profiles = async (): Promise<string[]> =>
    (await readdir(manager.profiles)).filter((name) => name.startsWith('svc-'));
  /** All connections that the node has written, as NetworkManager has them. */
  const written = async (): Promise<string> =>
    (
      await Promise.all(
        (await profiles()).map(async (name) => readFile(join(manager.profiles, name), 'utf8')),
      )
    ).join('');
  const start = async (): Promise<TestNode> =>
    TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      env: manager.env,
      prefix: manager.prefix,
    });

  before(async () => {
    manager = await RealNetworkManager.start();
    node = await start();
    await node.knowsArmed();
  });

  after(async () => {
    await node?.stop();
    await manager?.stop();
  });

  it('is not there without ModemManager', async () => {
    expect(await send('GET', '/api/v1/network/modem')).to.include({
      code: 'E_NOT_IMPLEMENTED',
      missing: 'ModemManager',
    });
    expect(await put({ id: '0', enabled: false })).to.include({ code: 'E_NOT_IMPLEMENTED' });
    await manager.startModems();
    expect(await modems()).to.deep.equal([]);
  });

  it('shows each modem, null for what is not measured', async () => {
    await manager.addModem(0, { sim: 'pin', identifier: 'aa00', iccid: '898821' });
    await manager.addModem(1, {
      identifier: 'aa01',
      operator: '\u001b[31mÉvil\u202e <b>"\\ \n'.padEnd(200, 'x'),
    });
    await manager.addModem(2, { sim: 'absent', identifier: 'aa02' });
    const all = await modems();
    expect(all.map(({ id, sim, state }) => [id, sim, state].join(' '))).to.deep.equal([
      '0 pin locked',
      '1 ready registered',
      '2 absent failed',
    ]);
    expect(all[0]).to.deep.equal({
      id: '0',
      model: 'QUALCOMM Mock',
      enabled: null,
      state: 'locked',
      operator: null,
      technology: null,
      signal_percent: null,
      rsrp_dbm: null,
      rsrq_db: null,
      sinr_db: null,
      apn: null,
      ip: null,
      sim: 'pin',
      pin_tries_left: 3,
      roaming: null,
      allow_roaming: null,
      rx_bytes: null,
      tx_bytes: null,
    });
  });

  it('wants the PIN, and tries a wrong one once, also after a restart', async () => {
    expect((await put({ id: '0', enabled: true, apn: 'internet' }))['detail']).to.match(
      /locked\. Send its PIN/,
    );
    const wrong = await put({ id: '0', enabled: true, apn: 'internet', pin: '9999' });
    expect(wrong, JSON.stringify(wrong)).to.include({ code: 'E_INVALID_VALUE', pin_tries_left: 2 });
    expect(await pins()).to.deep.equal(['9999']);
    for (const _ of [1, 2])
      expect((await put({ id: '0', enabled: true, pin: '9999' }))['detail']).to.match(
        /refused this PIN before/,
      );
    const pid = (): unknown => node.services.find(({ name }) => name === 'svc-control')?.pid;
    const old = pid();
    process.kill(Number(old), 'SIGKILL');
    await node.until(
      (services) =>
        pid() !== old && services.some(({ name, state }) => name === 'svc-control' && state === 'running'),
    );
    await node.knowsArmed();
    await worksAtLast(
      'the front knows that nobody is armed',
      async () =>
        expect((await put({ id: '0', enabled: true, pin: '9999' }))['detail']).to.match(
          /refused this PIN before/,
        ),
      30_000,
    );
    expect(await pins()).to.deep.equal(['9999']);
    expect(await profiles()).to.deep.equal([]);
    const kept = join(node.paths.modems);
    expect(await readFile(kept, 'utf8')).not.to.include('9999');
    expect((await stat(kept)).mode & 0o777).to.equal(0o600);
  });

  it('does not risk the last try unless it is told to', async () => {
    await put({ id: '0', enabled: true, pin: '8888' });
    const last = await put({ id: '0', enabled: true, pin: '1234' });
    expect(last).to.include({ code: 'E_INVALID_VALUE', pin_tries_left: 1 });
    expect(last['detail']).to.match(/last try.*last_try: true/);
    expect(await pins()).to.deep.equal(['9999', '8888']);
  });

  it('connects with the right PIN, which stays in no connection, and says so', async () => {
    const now = await put({ id: '0', enabled: true, apn: 'internet', pin: '1234', last_try: true });
    expect(now, JSON.stringify(now)).to.include({
      id: '0',
      enabled: true,
      state: 'connected',
      operator: 'Test Carrier',
      technology: 'lte',
      signal_percent: 67,
      apn: 'internet',
      ip: '10.64.0.2',
      sim: 'ready',
      roaming: false,
      rx_bytes: 123_456,
      tx_bytes: 6543,
    });
    expect(await pins()).to.deep.equal(['9999', '8888', '1234']);
    const files = await written();
    expect(files).to.include('type=gsm').and.include('autoconnect=true').and.include('home-only=true');
    expect(files).not.to.match(/^pin=/m);
    await worksAtLast(
      'the signal is measured',
      async () => expect((await modems())[0]).to.include({ rsrp_dbm: -97.5, rsrq_db: -11, sinr_db: 9.8 }),
      20_000,
    );
    const { uplinks } = await send('GET', '/api/v1/network');
    expect((uplinks as Body[]).map(({ interface: name, kind }) => [name, kind].join(' '))).to.include(
      'cdc-wdm0 gsm',
    );
  });

  it('never shows a PIN or a password: in no argument of a program, in no log, in no audit', async () => {
    await put({ id: '0', enabled: true, apn: 'internet', username: 'user', password: 's3cret-of-apn' });
    const folder = node.paths.auditDir;
    const records = await Promise.all(
      (await readdir(folder)).map(async (name) => readFile(join(folder, name), 'utf8')),
    );
    const audit = records.join('');
    expect(audit).to.include('/api/v1/network/modem');
    for (const said of [await manager.asked(), node.stderr, audit]) {
      expect(said).not.to.match(/\b(?:1234|8888)\b/);
      expect(said).not.to.include('s3cret-of-apn');
    }
    expect((await manager.askedOfModems()).connects.at(-1)).to.include({
      user: 'user',
      password: 's3cret-of-apn',
    });
  });

  it('keeps what was not sent, and shows a name that a network gives as one line', async () => {
    const now = await put({ id: '1', enabled: true, apn: 'iot.example', allow_roaming: true });
    expect(now['operator'])
      .to.match(/^\[31mÉvil/)
      .and.have.lengthOf(64);
    expect(now['operator']).not.to.match(/[\p{C}]/u);
    expect(await put({ id: '1', enabled: false })).to.include({ enabled: false, ip: null });
    expect(await manager.nmcli('-t', '-f', 'DEVICE,STATE', 'device')).to.include('cdc-wdm1:disconnected');
    expect(await put({ id: '1', enabled: true })).to.include({ apn: 'iot.example', ip: '10.64.1.2' });
    expect((await manager.askedOfModems()).connects.at(-1)).not.to.include({ 'allow-roaming': '0' });
  });

  const hostile: readonly (readonly [string, Body])[] = [
    ['an access point with a line of its own', { apn: 'internet\npin=1234' }],
    ['an access point that looks like an option', { apn: '-x' }],
    ['an access point longer than NetworkManager takes', { apn: 'a'.repeat(65) }],
    ['a user name with a line end', { username: 'a\r\n[gsm]' }],
    ['a password that is empty', { password: '' }],
    ['a PIN with letters', { pin: '12a4' }],
    ['a PIN of nine digits', { pin: '123456789' }],
    ['a modem by its path', { id: '/org/freedesktop/ModemManager1/Modem/1' }],
    ['a modem that looks like an option', { id: '-L' }],
  ];
  for (const [what, more] of hostile)
    it(`refuses ${what}`, async () => {
      const before = await manager.askedOfModems();
      expect(await put({ id: '1', enabled: true, ...more })).to.include({ code: 'E_INVALID_VALUE' });
      expect(await manager.askedOfModems()).to.deep.equal(before);
    });

  it('gives the carrier a user name and a password character for character', async () => {
    const odd = { username: ' a\\b;#[x]= ', password: ' "p\\s\'; ' };
    expect(await put({ id: '1', enabled: true, ...odd })).to.include({ state: 'connected' });
    const { username: user, password } = odd;
    expect((await manager.askedOfModems()).connects.at(-1)).to.include({ user, password });
  });

  it('goes back when an access point does not take it', async () => {
    const failed = await put({ id: '1', enabled: true, apn: 'wrong.apn' });
    expect(failed, JSON.stringify(failed)).to.include({ code: 'E_UPSTREAM', reverted: true });
    expect((await modems()).find(({ id }) => id === '1')).to.include({
      state: 'connected',
      apn: 'iot.example',
    });
  });

  const refused: readonly (readonly [string, Body, Body, RegExp])[] = [
    ['without a SIM', { sim: 'absent' }, {}, /no SIM/],
    ['whose SIM wants its PUK', { sim: 'puk' }, { pin: '1234' }, /PUK/],
    ['that vanishes meanwhile', { vanish_on_connect: true }, { apn: 'internet' }, /./],
    ['that may not roam', { roaming: true }, {}, /./],
  ];
  refused.forEach(([what, given, more, words], at) => {
    it(`says why it does not connect a modem ${what}`, async () => {
      const number = 10 + at;
      await manager.addModem(number, { ...given, identifier: `bb${at}` });
      const before = await pins();
      const failed = await put({ id: String(number), enabled: true, ...more });
      expect(failed, JSON.stringify(failed)).to.include({ code: 'E_UPSTREAM', reverted: true });
      expect(failed['detail']).to.match(words);
      expect(await pins()).to.deep.equal(before);
      await manager.removeModem(number).catch(() => null);
      expect(await put({ id: String(number), enabled: true })).to.include({ code: 'E_NOT_FOUND' });
    });
  });

  it('counts a PIN as tried when the modem vanished with it', async () => {
    await manager.addModem(20, { sim: 'pin', identifier: 'cc0', iccid: '898820', vanish_on_connect: true });
    expect(await put({ id: '20', enabled: true, pin: '1234' })).to.include({ code: 'E_UPSTREAM' });
    await manager.addModem(21, { sim: 'pin', identifier: 'cc0', iccid: '898820' });
    const before = await pins();
    expect((await put({ id: '21', enabled: true, pin: '1234' }))['detail']).to.match(
      /refused this PIN before/,
    );
    expect(await pins()).to.deep.equal(before);
    await manager.removeModem(21);
  });

  it('unlocks a SIM that it knows by itself, and no other SIM in the same modem', async () => {
    const before = (await pins()).length;
    await manager.removeModem(0);
    await manager.addModem(3, {
      sim: 'pin',
      identifier: 'aa00',
      iccid: '898821',
      net: 'wwan0',
      port: 'cdc-wdm0',
    });
    await manager.addModem(4, { sim: 'pin', identifier: 'dd00', port: 'cdc-wdm4' });
    await worksAtLast(
      'it is connected again',
      async () => expect((await modems()).find(({ id }) => id === '3')).to.include({ state: 'connected' }),
      60_000,
    );
    expect((await pins()).slice(before)).to.deep.equal(['1234']);
    await manager.removeModem(3);
    await manager.addModem(5, {
      sim: 'pin',
      identifier: 'aa00',
      iccid: '8988219',
      pin: '4321',
      net: 'wwan0',
      port: 'cdc-wdm0',
    });
    // Which SIM it is, it asks just before it would try.
    await worksAtLast(
      'it has looked at the other SIM',
      async () => expect(await manager.asked()).to.match(/SIM\/5\]/),
      60_000,
    );
    expect((await put({ id: '5', enabled: true }))['detail']).to.match(/locked\. Send its PIN/);
    expect((await pins()).slice(before)).to.deep.equal(['1234']);
  });

  it('is shown and set by the command, which asks for the PIN on stdin', async () => {
    const svc = async (input: string, ...args: readonly string[]): Promise<string> => {
      const { etc, run: runDir, state } = node.paths;
      const env = { ...process.env, SVC_ETC_DIR: etc, SVC_RUN_DIR: runDir, SVC_STATE_DIR: state };
      const child = spawn(process.execPath, [join(ROOT, 'bin/svc.js'), 'network', 'modem', ...args], { env });
      child.stdin.end(input);
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return out + err;
    };
    expect(await svc('')).to.match(/^5 +locked .*\n +SIM locked: wants its PIN, tries left: 3$/m);
    expect(await svc('4321\n', '5', '--on', '--apn', 'internet', '--pin')).to.match(
      /^5 +connected .*Test Carrier {2}lte {2}67 %.*\n +address 10\.64\.5\.2, access point internet$/m,
    );
    expect(await svc('', '5', '--off')).to.match(/^5 +(?:registered|disabled)/);
    expect(await svc('', '5')).to.include('Say --on or --off');
  });

  it('changes nothing while the vehicle is armed, and nothing through a relay', async () => {
    const command = async (cmd: string): Promise<Body> => send('POST', '/api/command', { cmd });
    await worksAtLast(
      'armed',
      async () => expect(await command('arm')).to.include({ status: 'accepted' }),
      60_000,
    );
    const before = await manager.askedOfModems();
    expect(await put({ id: '5', enabled: true, force: true })).to.include({ code: 'E_INVALID_VALUE' }); // there is no force
    expect(await put({ id: '5', enabled: true })).to.include({ code: 'E_ARMED' });
    expect(await put({ id: '1', enabled: false })).to.include({ code: 'E_ARMED' });
    expect(await manager.askedOfModems()).to.deep.equal(before);
    await command('disarm');
  });

  const sick: readonly (readonly [string, string, string])[] = [
    ['hangs', 'exec sleep 60', 'E_TIMEOUT'],
    ['answers without end', 'exec head -c 3000000 /dev/zero', 'E_UPSTREAM'],
    ['answers what is not JSON', 'echo "{"', 'E_UPSTREAM'],
    ['answers another shape', 'echo "[1, {}]"', 'none'],
  ];
  for (const [what, script, code] of sick)
    it(`outlives an mmcli that ${what}`, async () => {
      await writeFile(join(manager.bin, 'mmcli'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const body = await send('GET', '/api/v1/network/modem');
      await manager.restorePrograms();
      if (code === 'none') expect(body).to.deep.equal({ modems: [] });
      else expect(body).to.include({ code });
    });
});
