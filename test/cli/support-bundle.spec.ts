import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import { openPromise } from 'yauzl';
import { LogShipper } from '../../bin/supervisor/log-shipper.ts';
import type { Paths } from '../../shared/paths.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE } from '../support/radios.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

// As JSON and as an address it is written otherwise.
const PASSWORD = 'hunter22"camera/x';
const FORMS = [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), encodeURIComponent(PASSWORD)];

// Nobody on the node knows it: found by the word before it.
const WIFI = 'kestrel horse battery';
const RADIO = randomBytes(64);
const SIGNING = randomBytes(32).toString('hex');
const FLEET_KEY =
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAbcdefghijklmnop\n-----END PRIVATE KEY-----\n';

/** What a program of this node, or a library of it, might say. */
const WIFI_LINES = [
  JSON.stringify({ level: 'error', msg: `nmcli: {"ssid": "field", "passphrase": "${WIFI}"}`, psk: WIFI }),
  `wpa: passphrase="${WIFI}"`,
  `wpa: psk='${WIFI}' ssid=field`,
  `psk=${WIFI} ssid=field`,
  `nmcli: wifi-sec.psk ${WIFI.split(' ', 1)[0] ?? ''}`,
];

async function plant(paths: Paths): Promise<void> {
  for (const folder of [paths.radioKeys, paths.signingDir])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(paths.radioKeys, 'slot0.key'), RADIO, { mode: 0o600 });
  const signing = { version: 1, vehicle: '7', key_id: 'aa', link_id: 1, key_hex: SIGNING };
  await writeFile(join(paths.signingDir, '7-aa.json'), JSON.stringify(signing), { mode: 0o600 });
}

async function unzip(file: string, into: string): Promise<readonly string[]> {
  await mkdir(into);
  const zip = await openPromise(file);
  try {
    for await (const entry of zip.eachEntry())
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(join(into, entry.fileName)));
  } finally {
    zip.close();
  }
  return readdir(into);
}

interface Bundle {
  readonly files: readonly string[];
  readonly missing: readonly { readonly file: string; readonly why: string }[];
}

/** Over the API: who may have it, and one at a time. */
async function asked(node: TestNode, token: string): Promise<void> {
  const path = '/api/v1/support-bundle';
  const key = { 'x-svc-key': KEY };
  expect((await node.json(path, { headers: { 'x-svc-mcp-token': token } })).body['code']).to.equal('E_SCOPE');
  const relayed = await node.json(path, { headers: { ...key, 'x-svc-relayed': '1' } });
  expect(relayed.body['code']).to.equal('E_RELAY_FORBIDDEN');
  const first = node.fetch(path, { headers: key });
  const second = node.fetch(path, { headers: key });
  const [one, other] = await Promise.all([first, second]);
  expect([one.status, other.status]).to.have.members([200, 409]);
  const whole = one.status === 200 ? one : other;
  expect(whole.headers.get('content-type')).to.equal('application/zip');
  expect(whole.headers.get('content-disposition')).to.match(
    /^attachment; filename="svc-support-[a-z0-9]+\.zip"$/,
  );
  expect((await whole.bytes()).length).to.be.greaterThan(1000);
  // A client that goes lets the next one in.
  const leaving = new AbortController();
  const left = node.fetch(path, { headers: key, signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await left.catch((error: unknown) => expect(String(error)).to.include('AbortError'));
  for (let status = 409; status !== 200; ) {
    const next = await node.fetch(path, { headers: key });
    status = next.status;
    expect(status).to.be.oneOf([200, 409]);
    await next.bytes();
  }
}

describe('svc support-bundle', () => {
  it('K9 holds what helps and no secret, with the node up and with the node down', async () => {
    const config = `video:\n  source: none\n  password: '${PASSWORD}'\nmcp:\n  token_accept_enabled: true\n`;
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
    const folder = await tempDir();
    try {
      await node.post('/api/dashboard/pin/set', { pin: '735512' }, { 'x-svc-key': KEY });
      const minted = await node.post(
        '/api/mcp/tokens',
        { scopes: ['read'], label: 'x' },
        { 'x-svc-key': KEY },
      );
      const token = String(minted.body['token']);
      const pin = JSON.parse(await readFile(node.paths.dashboardPin, 'utf8')) as Record<string, unknown>;
      const { salt } = JSON.parse(await readFile(node.paths.mcpToken, 'utf8')) as { salt: string };
      const { secret: relaySecret, atDrone } = boundPair();
      await bindTo(DRONE, atDrone)(node.paths);
      const secrets = [
        KEY,
        ...FORMS,
        relaySecret.toString('hex'),
        atDrone.own_secret,
        salt,
        token,
        token.split('.')[1] ?? '',
        '735512',
        WIFI,
        'horse battery',
        WIFI.split(' ', 1)[0],
        RADIO.subarray(0, 32).toString('hex'),
        RADIO.toString('base64'),
        SIGNING,
        'MC4CAQAwBQYDK2VwBCIEIA',
        ...Object.values(pin).filter((v) => typeof v === 'string' && v.length > 12),
      ];
      await node.json('/api/status', { headers: { 'x-svc-mcp-token': token } });

      await plant(node.paths);
      // What a camera's own library might say.
      const said = [
        KEY,
        token,
        ...FORMS,
        relaySecret.toString('hex'),
        RADIO.subarray(0, 32).toString('hex'),
        RADIO.toString('base64'),
        SIGNING,
        FLEET_KEY,
        salt,
        pin['pin_hash'],
        pin['salt'],
      ].map((secret) => JSON.stringify({ level: 'error', msg: `rtsp://pilot:${String(secret)}@cam` }));
      const shipper = new LogShipper(node.paths.logSocket);
      shipper.start();
      for (const line of [...said, ...WIFI_LINES, '{"level":"error","msg":"last line"}']) shipper.write(line);
      for (let shipped = false; !shipped; ) {
        const { body } = await node.json('/api/logs?limit=50', { headers: { 'x-svc-key': KEY } });
        shipped = JSON.stringify(body).includes('last line');
      }
      await shipper.stop(20_000);

      const check = async (name: string, least: number): Promise<readonly string[]> => {
        const file = join(folder, `${name}.zip`);
        const { code, stdout, stderr } = await svc(node.paths, 'support-bundle', '--output', file, '--json');
        expect(code, stderr).to.equal(0);
        expect((await stat(file)).mode & 0o777).to.equal(0o600);
        const into = join(folder, name);
        const files = await unzip(file, into);
        expect(files.length).to.be.at.least(least);
        for (const each of files) {
          const text = await readFile(join(into, each), 'utf8');
          if (each.endsWith('.json')) JSON.parse(text);
          for (const secret of secrets)
            expect(text.includes(String(secret)), `${each}: ${String(secret).slice(0, 4)}…`).to.equal(false);
        }
        expect(JSON.parse(stdout)).to.deep.include({ file });
        return files;
      };
      const up = await check('up', 14);
      expect(up).to.include.members([
        'status.json',
        'config.json',
        'logs.ndjson',
        'audit.ndjson',
        'doctor.json',
        'manifest.json',
      ]);
      const fromNode = await readFile(join(folder, 'up/logs.ndjson'), 'utf8');
      expect(fromNode).to.include('last line').and.include('rtsp://pilot:***@cam').and.include('ssid');
      await asked(node, token);
      const at = ['--host', `127.0.0.1:${node.port}`, '--key', KEY];
      const far = await svc(
        node.paths,
        'support-bundle',
        ...at,
        '--output',
        join(folder, 'far.zip'),
        '--json',
      );
      expect(far.code, far.stderr).to.equal(0);
      expect((JSON.parse(far.stdout) as Bundle).files).to.include('doctor.json');
      await node.stop({ keep: true });
      // Without a node, the log's file is taken.
      await mkdir(node.paths.logDir, { recursive: true });
      await writeFile(
        join(node.paths.logDir, 'svc.log'),
        `${[...FORMS, ...said, ...WIFI_LINES].join('\n')}\nlast line\n`,
      );
      const down = await check('down', 8);
      expect(down).to.include.members(['audit.ndjson', 'doctor.json']).and.not.include('status.json');
      expect(down).to.include('log-file.txt').and.include('config-file.json');
      const log = await readFile(join(folder, 'down/log-file.txt'), 'utf8');
      expect(log)
        .to.include('rtsp://pilot:***@cam')
        .and.match(/last line\n$/);
      const masked = JSON.parse(await readFile(join(folder, 'down/config-file.json'), 'utf8')) as {
        video: { password: string };
      };
      expect(masked.video.password).to.equal('***');
      const manifest = JSON.parse(await readFile(join(folder, 'down/manifest.json'), 'utf8')) as {
        missing: { file: string; why: string }[];
      };
      expect(manifest.missing.map(({ file }) => file)).to.include('status.json');
      await writeFile(join(folder, 'file'), '');
      const { code } = await svc(node.paths, 'support-bundle', '--output', join(folder, 'file/x.zip'));
      expect(code).to.equal(1);
    } finally {
      await node.stop(); // again, unless it failed before that
      await removeDir(folder);
    }
  });

  it('with a node that hangs: ends, and says what it took too long for', async () => {
    const node = await TestNode.start({ simulated: false });
    const folder = await tempDir();
    const frozen = [node.pid('svc-supervisor'), node.pid('svc-control')]; // the one would replace the other
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    try {
      const file = join(folder, 'hung.zip');
      const { code, stdout } = await svc(node.paths, 'support-bundle', '--output', file, '--json');
      expect(code).to.equal(0);
      const { missing, files } = JSON.parse(stdout) as Bundle;
      expect(missing).to.deep.include({ file: 'status.json', why: 'It took too long.' });
      expect(missing).to.deep.include({ file: 'logs.ndjson', why: 'It took too long.' });
      expect(files).to.include.members(['config-file.json', 'doctor.json', 'manifest.json']);
      expect(await readdir(folder)).to.deep.equal(['hung.zip']); // nothing is left beside it
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      await node.stop();
      await removeDir(folder);
    }
  });
});
