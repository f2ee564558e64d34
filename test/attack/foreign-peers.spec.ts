import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { LogIngest } from '../../residual/app/logs/log-ingest.ts';
import type { LogStore } from '../../residual/app/logs/log-store.ts';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import { commandLong, GroundStation, paramSet } from '../link/ground-station.ts';
import { LinkProcess } from '../link/link-process.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { PeerVehicle } from '../link/peer-vehicle.ts';
import { SILENT_LOG } from '../link/rig.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const PARAM_SET = 23;
const ARM = 400;

const fromGround = (message: Parameters<typeof encodeAs>[0]): Buffer => encodeAs(message, 'v2', 0, 255, 190);
const arm = (): Buffer => Buffer.concat([fromGround(paramSet('HIDDEN', 1)), fromGround(commandLong(ARM, 1))]);

/** Sends the parts one after the other, each once the one before has left, until the other end hangs up. */
async function hungUpOn(socket: Socket, ...parts: readonly (Buffer | string)[]): Promise<void> {
  socket.on('error', () => undefined); // a reset is one way to hang up
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  for (const part of parts) {
    if (socket.destroyed) break;
    await new Promise((resolve) => socket.write(part, resolve));
  }
  await closed;
}

interface Node extends AsyncDisposable {
  readonly link: LinkProcess;
  readonly vehicle: PeerVehicle;
  readonly port: number;
}

async function node(): Promise<Node> {
  const vehicle = new PeerVehicle();
  vehicle.ready = true;
  const port = await freePort();
  const link = await LinkProcess.start(`tcp:127.0.0.1:${await vehicle.start()}`, [
    `endpoints: ["tcp:127.0.0.1:${port}"]`,
  ]);
  await link.until(({ mavlink_alive }) => mavlink_alive);
  return {
    link,
    vehicle,
    port,
    async [Symbol.asyncDispose]() {
      vehicle.stop();
      await link.stop();
    },
  };
}

/** What a ground station sends afterwards comes behind whatever the stranger sent. */
async function nothingReached({ port, vehicle }: Node): Promise<void> {
  const station = await GroundStation.tcp(port);
  station.send(fromGround(paramSet('BEHIND', 1)));
  await vehicle.hears(PARAM_SET);
  station.close();
  expect(vehicle.heard.filter((id) => id === PARAM_SET)).to.have.length(1);
  expect(vehicle.armed).to.equal(false);
}

describe('peers that speak something else', () => {
  it('a web page cannot fly the vehicle: an HTTP request to the TCP endpoint is dropped, whatever its body is', async () => {
    await using rig = await node();
    const url = `http://127.0.0.1:${rig.port}/`;
    let refused = 0;
    for (const method of ['POST', 'PUT']) {
      await fetch(url, { method, body: new Uint8Array(Buffer.concat([arm(), arm(), arm()])) }).catch(() => {
        refused++;
      });
    }
    expect(refused).to.equal(2);
    await nothingReached(rig);
    const [endpoint] = await rig.link.endpoints();
    expect(endpoint?.peers_turned_away).to.equal(2);
  });

  it('the opening is recognised when it comes in pieces, in any case, and behind a TLS hello too', async () => {
    await using rig = await node();
    const tls = Buffer.from([0x16, 0x03, 0x01, 0x00, 0xf8, 0x01]);
    for (const parts of [
      ['PO', 'ST / HTTP/1.1\r\n\r\n'],
      ['get / HTTP/1.0\n\n'],
      ['PROPFIND / HTTP/1.1\n\n'],
      [tls],
    ])
      await hungUpOn(connect(rig.port, '127.0.0.1'), ...parts, arm());
    await nothingReached(rig);
  });

  it('a peer that sends 513 bytes without a frame is dropped; one that has a frame within 512 is a ground station', async () => {
    await using rig = await node();
    await hungUpOn(connect(rig.port, '127.0.0.1'), Buffer.concat([Buffer.alloc(513, 0x41), arm()]));
    await hungUpOn(connect(rig.port, '127.0.0.1'), Buffer.alloc(300, 0x41), Buffer.alloc(213, 0x41), arm());
    await nothingReached(rig);
    const late = await GroundStation.tcp(rig.port);
    late.send(Buffer.concat([Buffer.alloc(400, 0x41), fromGround(heartbeat({ type: 6, autopilot: 8 }))]));
    late.send(Buffer.alloc(600, 0x41), fromGround(paramSet('LATE', 1)));
    await rig.vehicle.hears(PARAM_SET, 2);
    late.close();
  });

  it('mavlink.sock: HTTP, and frames behind a hello that was refused, reach nobody', async () => {
    await using rig = await node();
    const hello = (fields: object): string => `${JSON.stringify(fields)}\n`;
    const good = hello({ name: 'x', write: true, force: false, msgs: null });
    await hungUpOn(connect(rig.link.feed), 'POST / HTTP/1.1\r\nHost: x\r\n\r\n', good, arm());
    const refused = connect(rig.link.feed);
    refused.on('error', () => undefined);
    refused.write(Buffer.concat([Buffer.from(hello({ name: 1 })), Buffer.from(good), arm()]));
    await once(refused.resume(), 'end');
    refused.destroy();
    await hungUpOn(connect(rig.link.feed), good, Buffer.alloc(513, 0x41), arm());
    await nothingReached(rig);
  });

  it('a socket of calls (link.sock, supervisor.sock, video.sock) serves nothing behind a line that is no call', async () => {
    const dir = await tempDir();
    const path = join(dir, 'calls.sock');
    const called: unknown[] = [];
    const server = new RpcServer({
      path,
      methods: { fly: (params) => called.push(params) },
      onError: () => undefined,
    });
    await server.start();
    const call = `${JSON.stringify({ id: 1, method: 'fly', params: 'armed' })}\n`;
    await hungUpOn(connect(path), `POST / HTTP/1.1\r\nHost: x\r\n\r\n${call}`);
    await hungUpOn(connect(path), `{"id":1}\n${call}`);
    expect(called).to.deep.equal([]);
    await server.stop();
    await removeDir(dir);
  });

  it('the log socket takes no line of a peer that does not begin as a shipper', async () => {
    const dir = await tempDir();
    const path = join(dir, 'logs.sock');
    const stored: unknown[] = [];
    const store = { lastSeq: () => 0, append: () => undefined } as unknown as LogStore;
    const ingest = new LogIngest({
      path,
      store,
      log: SILENT_LOG,
      now: Date.now,
      followed: () => true,
      onStored: (records) => stored.push(...records),
    });
    await ingest.start();
    const body = '{"shipper":"x"}\n1 {"msg":"forged"}\n';
    await hungUpOn(connect(path), `POST / HTTP/1.1\r\nHost: x\r\n\r\n${body}`);
    await ingest.stop();
    expect(stored).to.deep.equal([]);
    await removeDir(dir);
  });

  it('a stranger that is no RTP with H.264 does not take the place of the video’s sender', () => {
    const units: Buffer[] = [];
    const rtp = new RtpDepacketizer((unit) => units.push(unit));
    const datagram = (type: number, ssrc: number, payload: Buffer): Buffer => {
      const head = Buffer.from([0x80, 0x80 | type, 0, 1, 0, 0, 0, 9, 0, 0, 0, ssrc]);
      return Buffer.concat([head, payload]);
    };
    rtp.push(datagram(72, 1, Buffer.from([0x65, 1])), 0); // RTCP
    rtp.push(datagram(96, 1, Buffer.from([0x1f, 1])), 1); // no NAL unit that may stand there
    rtp.push(datagram(96, 1, Buffer.from([0xe5, 1])), 2);
    rtp.push(datagram(96, 2, Buffer.from([0x65, 7])), 3);
    expect(units).to.deep.equal([Buffer.from([0, 0, 0, 1, 0x65, 7])]);
    expect(rtp.counters.refused).to.equal(3);
  });
});
