import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { pythonWith } from '../clients/side-by-side.ts';
import { rtcm } from '../link/rtcm-samples.ts';
import { askAgain } from '../support/ask-again.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { freePort } from '../support/temp.ts';

const headers = { 'x-svc-key': KEY };
const STR2STR = '/usr/bin/str2str';
const PASSWORD = 'streng-geheim';
const EVERY_MS = 50;
/** Sizes of messages around each number of fragments; with the frame six bytes more. The last is too long for the vehicle. */
const SIZES = [19, 174, 175, 354, 355, 534, 700, 714, 715] as const;

/** A vehicle that knows where it is, and puts GPS_RTCM_DATA together as the standard says: one line of hex a message. */
const VEHICLE = `
import os, sys, time
os.environ['MAVLINK20'] = '1'
from pymavlink import mavutil
v = mavutil.mavlink_connection('tcpin:127.0.0.1:' + sys.argv[1], source_system=1, source_component=1)
m = mavutil.mavlink
print('ready', flush=True)
parts, sequence, beat = {}, None, 0
while True:
    if time.monotonic() - beat > 0.5:
        beat = time.monotonic()
        v.mav.heartbeat_send(m.MAV_TYPE_QUADROTOR, m.MAV_AUTOPILOT_ARDUPILOTMEGA, 1, 0, m.MAV_STATE_STANDBY)
        v.mav.gps_raw_int_send(0, 3, 473977420, 85455940, 488000, 80, 120, 0, 0, 14)
        v.mav.global_position_int_send(0, 473977420, 85455940, 488000, 0, 0, 0, 0, 0)
    got = v.recv_match(type='GPS_RTCM_DATA', blocking=False)
    if got is None:
        time.sleep(0.002)
        continue
    data = bytes(got.data[:got.len])
    if not got.flags & 1:
        print(data.hex(), flush=True)
        continue
    if got.flags >> 3 != sequence: parts, sequence = {}, got.flags >> 3
    parts[got.flags >> 1 & 3] = data
    whole = b''
    for index in range(4):
        if index not in parts: break
        whole += parts[index]
        if len(parts[index]) < 180 or index == 3:
            print(whole.hex(), flush=True)
            parts = {}
            break
`;

/** Sends a frame now and then to whoever connects, no two alike, and hears what comes back. */
class Base {
  readonly port: number;
  readonly sent: string[] = [];
  heard = '';
  readonly #server: Server;
  readonly #timer: NodeJS.Timeout;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        this.heard += chunk.toString('latin1');
      });
    });
    this.#timer = setInterval(() => this.#send(), EVERY_MS);
  }

  static async start(): Promise<Base> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return new Base(server, typeof address === 'object' && address !== null ? address.port : 0);
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #send(): void {
    if (this.#sockets.size === 0) return;
    const count = this.sent.length;
    const frame = rtcm(1070 + (count % 60), SIZES[count % SIZES.length] ?? 0, count % 251);
    this.sent.push(frame.toString('hex'));
    for (const socket of this.#sockets) socket.write(frame);
  }
}

describe('corrections from RTKLIB’s caster to a vehicle of pymavlink', function () {
  this.timeout(120_000);
  let base: Base;
  let caster: ChildProcess | null = null;
  let vehicle: ChildProcess;
  let node: TestNode;
  const whole: string[] = [];

  before(async function () {
    const python = await pythonWith(['pymavlink']);
    if (python === undefined || !existsSync(STR2STR)) return this.skip(); // apt-get install rtklib
    base = await Base.start();
    const [casterPort, vehiclePort] = [await freePort(), await freePort()];
    caster = spawn(
      STR2STR,
      [
        '-in',
        `tcpcli://127.0.0.1:${base.port}`,
        '-out',
        `ntripc://pilot:${PASSWORD}@:${casterPort}/BASE`,
        '-b',
        '1',
      ],
      { stdio: 'ignore' },
    );
    vehicle = spawn(python, ['-B', '-c', VEHICLE, String(vehiclePort)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: vehicle.stdout ?? process.stdin });
    await once(lines, 'line');
    lines.on('line', (line) => whole.push(line));
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mavlink:
  source: tcp:127.0.0.1:${vehiclePort}
  endpoints: []
security:
  near_hosts: [127.0.0.1, localhost]
rtk:
  source: ntrip
  ntrip:
    host: 127.0.0.1
    port: ${casterPort}
    mountpoint: BASE
    username: pilot
    password: ${PASSWORD}
    send_position: true
`,
    });
  });
  after(async () => {
    await node?.stop();
    caster?.kill('SIGKILL');
    vehicle?.kill('SIGKILL');
    base?.stop();
  });

  const put = async (key: string, value: unknown) =>
    node.json('/api/config', {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ key, value }),
    });
  const rtk = async () => (await node.json('/api/rtk', { headers })).body;

  it('arrive whole, in order, and unchanged; what is too long is left out and counted', async () => {
    await askAgain(
      'messages of all sizes are there',
      async () => whole.length,
      (count) => count > 5 * SIZES.length,
    );
    const first = base.sent.indexOf(whole[0] ?? '');
    const short = base.sent.slice(first).filter((hex) => hex.length / 2 <= 720);
    expect(whole).to.deep.equal(short.slice(0, whole.length));
    const state = await rtk();
    expect(state).to.include({ state: 'streaming', mountpoint: 'BASE', bad_frames: 0 });
    expect(state['problem']).to.match(/^Message \d+ has \d+ bytes and is left out/);
    expect(state['frames']).to.be.above(5 * SIZES.length);
    expect(state['dropped']).to.be.above(3);
    expect(state['rate_bps']).to.be.above(10_000);
    expect(state['age_s']).to.be.below(1);
  });

  it('the caster hears where the vehicle is', async () => {
    const heard = await askAgain(
      'a place has come',
      async () => base.heard,
      (text) => text.includes('$GPGGA'),
    );
    expect(heard).to.match(
      /\$GPGGA,\d{6}\.\d\d,4723\.86452,N,00832\.73564,E,1,14,0\.8,488\.0,M,0\.0,M,,\*..\r\n/,
    );
  });

  it('svc rtk shows them; the password is nowhere', async () => {
    const { stdout } = await svc(node.paths, 'rtk');
    expect(stdout).to.match(
      /^streaming {2}ntrip:127\.0\.0\.1:\d+ BASE\n\d+ frames, 0 damaged, \d+ not sent;/,
    );
    const config = await node.json('/api/config', { headers });
    expect(JSON.stringify(config.body)).to.include('"password":"***"').and.not.include(PASSWORD);
    expect(node.stderr + stdout + JSON.stringify(await rtk())).to.not.include(PASSWORD);
  });

  it('without a mountpoint, those of the caster are shown, and one is chosen on the page', async function () {
    if (noBrowser() !== null) return this.skip();
    await node.knowsArmed();
    expect((await put('rtk.ntrip.mountpoint', 'ELSEWHERE')).status).to.equal(200);
    await node.killAndAwaitSuccessor('svc-link');
    const { problem, mountpoints } = await askAgain('it has no such', rtk, ({ state }) => state === 'failed');
    expect(problem).to.equal('The caster has no ELSEWHERE. Choose one of its mountpoints.');
    expect(mountpoints).to.have.nested.property('[0].name', 'BASE');
    expect((await svc(node.paths, 'rtk')).stdout).to.match(/^BASE\b.*\nSet one: svc config set/m);
    const browser = await openBrowser('chromium', { deaf: true });
    try {
      const page = await openPage(browser);
      const seen = watch(page, node.url);
      await signIn(page, node.url, KEY);
      await visit(page, 'vehicle/link/corrections');
      await page.getByRole('button', { name: 'Use this one', exact: true }).click();
      await page.getByRole('button', { name: 'Restart svc-link', exact: true }).click();
      await page.getByText(/arriving/).waitFor();
      await checkAxe(page);
      seen.check();
    } finally {
      await browser.close();
    }
    expect(await rtk()).to.include({ state: 'streaming', mountpoint: 'BASE', mountpoints: null });
  });

  it('another host clears the login; without it the caster refuses, which is said', async () => {
    await node.knowsArmed();
    const { status, body } = await put('rtk.ntrip.host', 'localhost');
    expect([status, body['cleared']]).to.deep.equal([200, ['rtk.ntrip.username', 'rtk.ntrip.password']]);
    await node.killAndAwaitSuccessor('svc-link');
    const { problem } = await askAgain('it is refused', rtk, ({ state }) => state === 'failed');
    expect(problem).to.equal('The caster refuses the login. Check the user name and the password.');
  });
});
