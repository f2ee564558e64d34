import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { checkout, interrupt, processesOf, type Run, run } from '../support/checkout.ts';
import { telemetry } from '../support/events.ts';
import { freePort, removeDir } from '../support/temp.ts';

/** Not how fast it is, but that nothing has to be killed: systemd would do that after 25 s. */
const SHUTDOWN_MS = 25_000;

describe('a newcomer: npm start', () => {
  let dir: string;
  let port: number;
  let node: Run;
  before(async () => {
    dir = await checkout();
    port = await freePort();
    await mkdir(join(dir, '.svc/etc'), { recursive: true });
    // The one thing that a test changes: two suites on one machine cannot both have port 8080.
    const config = `api:\n  port: ${port}\nmavlink:\n  source: sim\nvideo:\n  source: test\n`;
    await writeFile(join(dir, '.svc/etc/config.yaml'), config);
    node = run(dir, 'npm', ['start']);
    await node.shows('Ctrl-C stops everything.');
  });
  after(async () => {
    if (node.process.exitCode === null && node.process.signalCode === null) await interrupt(node);
    await removeDir(dir);
  });

  const url = (path: string): string => `http://127.0.0.1:${port}${path}`;
  const get = async (path: string) => (await fetch(url(path))).json() as Promise<Record<string, never>>;
  const command = async (cmd: string, ...args: (number | string)[]) => {
    const response = await fetch(url('/api/command'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ cmd, args }),
    });
    return {
      http: response.status,
      ...((await response.json()) as {
        status: string;
        detail?: string;
        ack?: { result_name: string; statustext?: string };
      }),
    };
  };
  const telemetryUntil = async (wanted: (t: Telemetry) => boolean, what: string): Promise<Telemetry> => {
    let newest: unknown = null;
    const fits = (body: unknown): boolean => {
      newest = body;
      return wanted(body as Telemetry);
    };
    const late = setTimeout(90_000, null, { ref: false }).then(() => {
      throw new Error(`${what}: ${JSON.stringify(newest)}`);
    });
    return (await Promise.race([
      telemetry({ url: `http://localhost:${port}` }, fits),
      late,
    ])) as unknown as Telemetry;
  };

  it('prints one short screen with all that is needed', () => {
    expect(node.output).to.include(`http://localhost:${port}`);
    expect(node.output).to.match(/profile\s+drone/);
    expect(node.output).to.match(/flight controller\s+connected, SIMULATED, ardupilot, disarmed/);
    expect(node.output).to.match(/pairing code\s+[A-Z0-9]{6}\s+pair with: npx svc pair/);
    expect(node.output.split('\n').length).to.be.lessThan(25);
  });

  it('a second npm start says that the port is taken', async () => {
    const second = run(dir, 'npm', ['start']);
    const [code] = (await once(second.process, 'close')) as [number];
    expect(code).to.not.equal(0);
    expect(second.output).to.include(`Port ${port} is taken`);
    expect((await fetch(url('/healthz'))).status).to.equal(200);
  });

  it('/api/status is measured from this machine', async () => {
    const status = (await get('/api/status')) as unknown as Record<string, unknown>;
    expect(status).to.include({ fc_connected: true, fc_simulated: true, profile: 'drone', armed: false });
    expect(status['fc_simulated_evidence']).to.have.length.above(0);
    const health = status['health'] as { memory_percent: number; disk_percent: number };
    expect(health.memory_percent).to.be.within(0.1, 100);
    expect(health.disk_percent).to.be.within(0.1, 100);
  });

  it('flies: refuses what the vehicle refuses, arms, takes off to 10 m, goes somewhere, lands and disarms', async () => {
    const early = await command('takeoff', 10);
    expect(early).to.include({ http: 200, status: 'rejected' });
    expect(early.ack?.statustext).to.have.length.above(0);
    const mode = await command('mode', 'HYPERSPACE');
    expect(mode.http).to.equal(400);
    expect(mode.detail).to.include('HYPERSPACE').and.include('GUIDED');

    const accepted = async (cmd: string, ...args: number[]) => {
      const answer = await command(cmd, ...args);
      expect(answer.status, JSON.stringify(answer)).to.equal('accepted');
    };
    await telemetryUntil((t) => t.ekf.ok === true, 'never knew where it was'); // a GPS fix alone is not enough to fly
    await accepted('arm');
    await accepted('takeoff', 10);
    const up = await telemetryUntil((t) => (t.position.alt_rel ?? 0) > 9.5, 'never reached 10 m');
    expect(up.armed).to.equal(true);
    const target = { lat: (up.position.lat ?? 0) + 0.0003, lon: up.position.lon ?? 0 };
    await accepted('goto', target.lat, target.lon, 12);
    await telemetryUntil((t) => Math.abs((t.position.lat ?? 0) - target.lat) < 0.00003, 'never arrived');
    await accepted('land');
    await telemetryUntil((t) => t.armed === false, 'never disarmed');
  });

  it('a picture and a recording are stored below .svc, and downloaded whole and in part', async () => {
    const post = async (path: string): Promise<Response> =>
      fetch(url(path), { method: 'POST', signal: AbortSignal.timeout(10_000) });
    let answer = await post('/api/video/snapshot');
    while (answer.status === 503) answer = await post('/api/video/snapshot'); // no picture yet
    const { name: picture } = (await answer.json()) as { name: string };
    await post('/api/video/record/start');
    const files = async (): Promise<readonly string[]> => {
      const { recording } = (await get('/api/video')) as unknown as { recording: { files: string[] } | null };
      return recording?.files ?? [];
    };
    while ((await files()).length === 0);
    const stopped = (await (await post('/api/video/record/stop')).json()) as { name: string };
    for (const name of [picture, stopped.name]) {
      const path = `/api/video/recordings/${name}`;
      const whole = await fetch(url(path));
      expect(whole.status, name).to.equal(200);
      const bytes = Buffer.from(await whole.arrayBuffer());
      const onDisk = await readFile(join(dir, '.svc/state/recordings', name));
      expect(bytes.equals(onDisk)).to.equal(true);
      const part = await fetch(url(path), { headers: { range: 'bytes=1-9' } });
      expect(part.status).to.equal(206);
      expect(Buffer.from(await part.arrayBuffer()).equals(onDisk.subarray(1, 10))).to.equal(true);
    }
    await writeFile(join(dir, '.svc/state/recordings/.hidden.mp4'), 'x');
    expect((await fetch(url('/api/video/recordings/.hidden.mp4'))).status).to.equal(400);
  });

  it('npx svc status, pair, and then a key is needed', async () => {
    const status = run(dir, 'npx', ['svc', 'status']);
    expect(await once(status.process, 'close')).to.have.nested.property('[0]', 0);
    expect(status.output).to.include('SIMULATED').and.include('svc-control');
    const pair = run(dir, 'npx', ['svc', 'pair', '--user', 'newcomer']);
    expect(await once(pair.process, 'close'), pair.output).to.have.nested.property('[0]', 0);
    const key = /^svc_[A-Za-z0-9_-]{43}$/m.exec(pair.output)?.[0];
    expect(key).to.be.a('string');
    expect((await fetch(url('/api/status'))).status).to.equal(401);
    expect((await fetch(url('/api/status'), { headers: { 'x-svc-key': key ?? '' } })).status).to.equal(200);
    const unpair = run(dir, 'npx', ['svc', 'unpair']);
    expect(await once(unpair.process, 'close'), unpair.output).to.have.nested.property('[0]', 0);
    expect((await fetch(url('/api/status'))).status).to.equal(200);
  });

  it('Ctrl-C stops everything and leaves no process and no socket', async () => {
    expect(processesOf(dir).length).to.be.at.least(4);
    expect(await interrupt(node)).to.be.lessThan(SHUTDOWN_MS);
    expect(processesOf(dir)).to.deep.equal([]);
    expect(existsSync(join(dir, '.svc/run'))).to.equal(true);
    expect(readdirSync(join(dir, '.svc/run'))).to.deep.equal([]);
  });
});

describe('npm run start:ground', () => {
  it('is reached by what its screen says, and by svc --demo ground', async () => {
    const dir = await checkout();
    await mkdir(join(dir, '.svc/ground/etc'), { recursive: true });
    const config = `agent:\n  profile: ground-station\napi:\n  port: ${await freePort()}\nmavlink:\n  source: sim\n  endpoints: []\n`;
    await writeFile(join(dir, '.svc/ground/etc/config.yaml'), config);
    const node = run(dir, 'npm', ['run', 'start:ground']);
    const says = async (line: string): Promise<readonly [number, string]> => {
      const asked = run(dir, 'sh', ['-c', line]);
      const [code] = (await once(asked.process, 'close')) as [number];
      return [code, asked.output];
    };
    try {
      await node.shows('Ctrl-C stops everything.');
      const [, pair = ''] = /pair with: (.+)/.exec(node.output) ?? [];
      const [code, paired] = await says(pair);
      expect(code, paired).to.equal(0);
      expect(paired).to.match(/^svc_[A-Za-z0-9_-]{43}$/m);
      expect((await says('npx svc --demo ground status'))[1]).to.include('ground-station');
      expect((await says('npx svc audit verify --demo ground'))[1]).to.match(/^[1-9]\d* records/m);
      expect((await says('npx svc --demo air status'))[0]).to.equal(2);
    } finally {
      await interrupt(node);
      const [code, text] = await says('npx svc --demo ground status');
      await removeDir(dir);
      expect(code).to.equal(3);
      expect(text.replaceAll(/[\s›]+/g, ' ')).to.include('npm run start:ground');
    }
  });
});

interface Telemetry {
  readonly ekf: { readonly ok: boolean | null };
  readonly armed: boolean | null;
  readonly position: {
    readonly lat: number | null;
    readonly lon: number | null;
    readonly alt_rel: number | null;
  };
}
