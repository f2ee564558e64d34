import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { type MavLinkPacket, MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import { LinkProcess } from './link-process.ts';
import {
  attitude,
  commandAck,
  encodeAs,
  globalPosition,
  heartbeat,
  paramValue,
  statusText,
} from './mavlink-samples.ts';

const COUNT = 40;

/** A vehicle on a real TCP port, written with node-mavlink only; arming is refused until `ready`. */
class PeerVehicle {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  ready = false;
  armed = false;
  connections = 0;
  ownHeartbeats = 0;
  #timer: NodeJS.Timeout | null = null;
  #seq = 0;

  constructor() {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#timer = setInterval(() => this.#tell(), 100);
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.hangUp();
    this.#server.close();
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  write(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  #say(message: Parameters<typeof encodeAs>[0]): void {
    this.write(encodeAs(message, 'v2', this.#seq++ & 0xff, 5));
  }

  #tell(): void {
    this.#say(heartbeat({ armed: this.armed, customMode: 4 }));
    this.#say(attitude(1000 + this.#seq));
    this.#say(globalPosition(1000 + this.#seq, 48.1, 11.5));
  }

  #accept(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('error', () => undefined); // the link resets connections when it stops
    socket.on('close', () => this.#sockets.delete(socket));
    socket
      .pipe(new MavLinkPacketSplitter())
      .pipe(new MavLinkPacketParser())
      .on('data', (packet: MavLinkPacket) => this.#hear(packet));
  }

  #hear({ header, payload }: MavLinkPacket): void {
    if (header.msgid === 0) this.ownHeartbeats++;
    if (header.msgid === 21) {
      for (let index = 0; index < COUNT; index++) this.#say(paramValue(`PEER_${index}`, index, index, COUNT));
    }
    if (header.msgid !== 76) return;
    const command = payload.readUInt16LE(28);
    if (command !== 400) {
      this.#say(commandAck(command, 0, 5));
      return;
    }
    this.#say(commandAck(400, this.ready ? 0 : 4, 5));
    if (this.ready) this.armed = payload.readFloatLE(0) === 1;
    else this.#say(statusText(2, 'PreArm: not ready'));
  }
}

/** svc-sim on a free port. */
async function simulator(...args: string[]): Promise<{ child: ChildProcess; port: number }> {
  const main = join(import.meta.dirname, '../../bin/sim/main.ts');
  const child = spawn(process.execPath, [main, '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const port = /listening on tcp:.*:(\d+)\n/.exec(text)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error(`the simulator did not start: ${text}`);
}

describe('svc-link', () => {
  it('serves its socket without a vehicle, finds one, commands it, and survives garbage and lost connections', async () => {
    const peer = new PeerVehicle();
    const port = await peer.start();
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const alive = await link.until(({ mavlink_alive, params }) => mavlink_alive && params.cached === COUNT);
      expect(alive).to.include({ system_id: 5, armed: false, firmware: 'ardupilot', simulated: false });
      expect((await link.params()).params['PEER_7']).to.deep.equal({ value: 7, type: 9, index: 7 });

      const refused = await link.command('arm');
      expect(refused).to.deep.include({ status: 'rejected' });
      expect(refused.ack).to.include({ result_name: 'FAILED', statustext: 'PreArm: not ready' });
      peer.ready = true;
      expect((await link.command('arm')).status).to.equal('accepted');
      const armed = await link.until((state) => state.armed === true);
      expect(armed.telemetry).to.include({ mode: 'GUIDED', armed: true });
      expect(armed.telemetry.position).to.include({ lat: 48.1, alt_rel: 12 });

      peer.write(Buffer.from('fdfefdfe00ff'.repeat(200), 'hex'));
      const before = link.state?.counters.rx_frames ?? 0;
      await link.until(({ counters }) => counters.rx_frames > before + 20);
      expect(link.state?.counters.rx_garbage_bytes).to.be.at.least(1200);

      peer.hangUp();
      await link.until(({ transport_open }) => !transport_open);
      await link.until(({ transport_open, mavlink_alive }) => transport_open && mavlink_alive);
      expect(peer.connections).to.equal(2);
      expect(link.state?.counters.reconnects).to.equal(1);
      await link.until(() => peer.ownHeartbeats > 0);
    } finally {
      peer.stop();
      expect(await link.stop()).to.equal(0);
    }
  });

  it('runs on with a source that is not in this build, and says so', async () => {
    const link = await LinkProcess.start('udp:127.0.0.1:14550');
    const state = await link.until(() => true);
    expect(state).to.include({
      source: 'udp:127.0.0.1:14550',
      transport_open: false,
      armed: false,
      heard: false,
    });
    await expectNoFc(link);
    expect(link.stderr).to.include('udp is not in this build yet');
    expect(await link.stop()).to.equal(0);
  });

  it('flies the simulator: refused take-off, arm, take-off, goto, land', async () => {
    const { child, port } = await simulator('--speedup', '10', '--settle', '200');
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const found = await link.until(
        ({ telemetry, params, simulated }) => simulated && !params.priming && telemetry.position.lat !== null,
      );
      expect(found.params.cached).to.equal(found.params.expected);
      expect((await link.command('takeoff', 10)).status).to.equal('rejected');
      expect((await link.command('arm')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === true);
      // Armed in STABILIZE: GUIDED comes first.
      expect((await link.command('takeoff', 10)).status).to.equal('accepted');
      await link.until(
        ({ telemetry }) => telemetry.mode === 'GUIDED' && (telemetry.position.alt_rel ?? 0) > 9,
      );
      const { lat, lon } = found.telemetry.position;
      const north = (lat ?? 0) + 0.0002;
      expect((await link.command('goto', north, lon ?? 0, 15)).status).to.equal('accepted');
      await link.until(
        ({ telemetry: { position } }) =>
          Math.abs((position.lat ?? 0) - north) < 2e-5 && (position.alt_rel ?? 0) > 14,
      );
      expect((await link.command('stop')).status).to.equal('accepted');
      await link.until(({ telemetry }) => telemetry.mode === 'BRAKE');
      expect((await link.command('land')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === false);
      expect(link.state?.counters).to.include({ rx_bad_crc: 0, rx_garbage_bytes: 0, rx_lost: 0 });
    } finally {
      await link.stop();
      child.kill('SIGTERM');
    }
  });

  it('works over a bad link: noise between frames, lost parameters and acks', async () => {
    const faults = ['--garbage', '0.2', '--drop-params', '0.3', '--lose-acks', '1'];
    const { child, port } = await simulator('--settle', '200', '--param-rate', '2000', ...faults);
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const complete = await link.until(({ params }) => params.expected !== null && !params.priming);
      expect(complete.params).to.include({ timed_out: false, cached: complete.params.expected });
      await link.until(({ telemetry }) => telemetry.position.lat !== null);
      expect((await link.command('arm')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === true);
      expect(link.state?.counters).to.include({ rx_lost: 0 });
      expect(link.state?.counters.rx_garbage_bytes).to.be.above(0);
    } finally {
      await link.stop();
      child.kill('SIGTERM');
    }
  });
});

async function expectNoFc(link: LinkProcess): Promise<void> {
  const error: unknown = await link.command('arm').catch((reason: unknown) => reason);
  expect(error).to.include({ code: 'E_NO_FC' });
}
