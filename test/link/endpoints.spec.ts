import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect } from 'chai';
import { common } from 'node-mavlink';
import { Framer } from '../../shared/mavlink/framer.ts';
import { freePort } from '../support/temp.ts';
import { commandLong, GroundStation, paramSet, serialControl } from './ground-station.ts';
import { LinkProcess } from './link-process.ts';
import { commandAck, encodeAs, heartbeat } from './mavlink-samples.ts';
import { PEER_PARAMS, PeerVehicle } from './peer-vehicle.ts';

const PARAM_SET = 23;
const HEARTBEAT = 0;
const ATTITUDE = 30;
const COMMAND_LONG = 76;
const COMMAND_ACK = 77;
const FTP = 110;
const PARAM_ERROR = 345;
const PARAM_VALUE = 22;
const ARM = 400;
const TEMPORARILY_REJECTED = 1;
const DENIED = 2;
const SERIAL_CONTROL = 126;
const PREFLIGHT_REBOOT = 246;

const fromGround = (message: Parameters<typeof encodeAs>[0], seq = 0): Buffer =>
  encodeAs(message, 'v2', seq, 255, 190);
const groundHeartbeat = (seq = 0): Buffer => fromGround(heartbeat({ type: 6, autopilot: 8 }), seq);

interface Rig extends AsyncDisposable {
  readonly vehicle: PeerVehicle;
  readonly link: LinkProcess;
  readonly stations: GroundStation[];
}

async function rig(...mavlink: string[]): Promise<Rig> {
  const vehicle = new PeerVehicle();
  const link = await LinkProcess.start(`tcp:127.0.0.1:${await vehicle.start()}`, mavlink);
  await link.until(({ mavlink_alive }) => mavlink_alive);
  const stations: GroundStation[] = [];
  return {
    vehicle,
    link,
    stations,
    async [Symbol.asyncDispose]() {
      for (const station of stations) station.close();
      vehicle.stop();
      await link.stop();
    },
  };
}

async function peersOf(link: LinkProcess, name: string): ReturnType<LinkProcess['endpoints']> {
  return (await link.endpoints()).filter((endpoint) => endpoint.name.startsWith(name));
}

describe('endpoints for ground stations', () => {
  it('TCP and UDP at the same time: the frames of the vehicle go to each, theirs to the vehicle, all counted', async () => {
    const [tcp, udp] = [await freePort(), await freePort()];
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${tcp}", "udp:127.0.0.1:${udp}"]`);
    const { link, vehicle, stations } = node;
    await link.opened();
    stations.push(await GroundStation.tcp(tcp), await GroundStation.udp(udp), await GroundStation.udp(udp));
    for (const [index, station] of stations.entries()) {
      station.send(groundHeartbeat(index));
      const { header } = await station.next(ATTITUDE);
      expect(header.sysid).to.equal(5);
    }
    for (const [index, station] of stations.entries()) station.send(fromGround(paramSet(`P${index}`, 1)));
    await vehicle.hears(PARAM_SET, 3);
    const [byUdp] = await peersOf(link, 'udp:');
    expect(byUdp?.peers).to.have.length(2);
    for (const peer of byUdp?.peers ?? []) {
      expect(peer).to.include({ rx_frames: 2, rx_refused: 0, rx_looped: 0, rx_bad_crc: 0, tx_dropped: 0 });
      expect(peer.tx_frames).to.be.greaterThan(0);
      expect(peer.last_seen_s).to.be.lessThan(5);
    }
    const [byTcp] = await peersOf(link, 'tcp:');
    expect(byTcp?.peers).to.have.length(1);
    stations[0]?.close();
    while ((await peersOf(link, 'tcp:'))[0]?.peers.length !== 0);
  });

  it('a camera on one and a ground station on another talk to each other; both see the companion computer', async () => {
    const [tcp, udp] = [await freePort(), await freePort()];
    const both = `endpoints: ["tcp:127.0.0.1:${tcp}", "udp:127.0.0.1:${udp}"]`;
    await using node = await rig(both, 'heartbeat: on');
    await node.link.opened();
    const [camera, station] = [await GroundStation.udp(udp), await GroundStation.tcp(tcp)];
    node.stations.push(camera, station);
    const ofCamera = (message: Parameters<typeof encodeAs>[0], seq: number): Buffer =>
      encodeAs(message, 'v2', seq, 5, 100);
    camera.send(ofCamera(heartbeat({ type: 30, autopilot: 8 }), 0));
    station.send(groundHeartbeat());
    await Promise.all([station.hears(5, 191, HEARTBEAT), camera.hears(5, 191, HEARTBEAT)]);
    camera.send(ofCamera(heartbeat({ type: 30, autopilot: 8 }), 1));
    await station.hears(5, 100, HEARTBEAT);
    const order = Object.assign(commandLong(512, 259), { targetComponent: 100 });
    station.send(fromGround(order, 7));
    await camera.hears(255, 190, COMMAND_LONG);
    camera.send(ofCamera(commandAck(512, 0, 255, 190), 2));
    await station.hears(5, 100, COMMAND_ACK);
    expect(node.vehicle.heard.filter((id) => id === COMMAND_ACK)).to.deep.equal([]);
  });

  it('udpout to everybody on a network is heard, and hears whoever answers', async () => {
    const port = await freePort();
    const station = createSocket('udp4');
    station.bind(port);
    await using node = await rig(`endpoints: ["udpout:127.255.255.255:${port}"]`);
    const [, sender] = (await once(station, 'message')) as [Buffer, { port: number }];
    station.send(fromGround(paramSet('OUT', 1)), sender.port, '127.0.0.1');
    await node.vehicle.hears(PARAM_SET);
    station.close();
  });

  it('udpout: sends first, and hears what comes back', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["udpout:127.0.0.1:${port}"]`);
    const station = await GroundStation.udp(port, true);
    node.stations.push(station);
    await station.next(ATTITUDE);
    station.send(fromGround(paramSet('OUT', 1)));
    await node.vehicle.hears(PARAM_SET);
  });

  it('a port that is taken is told, and the other endpoint works', async () => {
    const other = createServer();
    const taken = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const free = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${taken}", "tcp:127.0.0.1:${free}"]`);
    node.stations.push(await GroundStation.tcp(free));
    await node.stations[0]?.next(ATTITUDE);
    const [first, second] = await peersOf(node.link, 'tcp:');
    expect(first).to.deep.include({ open: false, peers: [] });
    expect(first?.problem).to.include('EADDRINUSE');
    expect(second).to.include({ open: true, problem: null });
    other.close();
  });

  it('a ground station that sends everything back does not feed the vehicle its own frames', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    for (let count = 0; count < 5; count++) {
      const { buffer } = await station.next(ATTITUDE);
      station.send(buffer);
    }
    station.send(fromGround(paramSet('AFTER', 1)));
    await node.vehicle.hears(PARAM_SET);
    expect(node.vehicle.heard).to.not.include(ATTITUDE);
    const [{ peers } = { peers: [] }] = await peersOf(node.link, 'tcp:');
    expect(peers[0]?.rx_looped).to.equal(5);
  });

  it('F7 while armed: parameters, signing and reboot are kept back and the peer is told; the rest passes; with force=1 all', async () => {
    const [guarded, open] = [await freePort(), await freePort()];
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${guarded}", "tcp:127.0.0.1:${open}?force=1"]`);
    const { vehicle, link } = node;
    vehicle.ready = true;
    const [station, pilot] = [await GroundStation.tcp(guarded), await GroundStation.tcp(open)];
    node.stations.push(station, pilot);

    station.send(fromGround(paramSet('DISARMED', 1)), fromGround(commandLong(PREFLIGHT_REBOOT, 1)));
    await vehicle.hears(PARAM_SET);
    await vehicle.hears(COMMAND_LONG);

    expect((await link.command('arm')).status).to.equal('accepted');
    await link.until(({ armed }) => armed === true);
    const before = vehicle.heard.length;
    const told = station.told();
    station.send(fromGround(paramSet('ARMED', 1), 1));
    expect(await told).to.equal('svc: PARAM_SET refused while armed');
    const again = station.told();
    station.send(fromGround(commandLong(PREFLIGHT_REBOOT, 1), 2));
    expect(await again).to.equal('svc: storage/reboot refused while armed');
    // What a pilot needs in flight passes, and comes after what was kept back.
    station.send(fromGround(commandLong(20), 3));
    await vehicle.hears(COMMAND_LONG, vehicle.heard.filter((id) => id === COMMAND_LONG).length + 1);
    expect(vehicle.heard.slice(before)).to.not.include(PARAM_SET);

    pilot.send(fromGround(paramSet('FORCED', 1), 4));
    await vehicle.hears(PARAM_SET, 2);
    const endpoints = await peersOf(link, 'tcp:');
    expect(endpoints.map(({ peers }) => peers[0]?.rx_refused)).to.deep.equal([2, 0]);
  });

  it('F7 what is kept back while armed is answered in the protocol, as the vehicle would; texts go to each peer', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const { vehicle, link } = node;
    await link.until(({ params }) => params.cached === PEER_PARAMS && !params.priming);
    vehicle.ready = true;
    const [station, other] = [await GroundStation.tcp(port), await GroundStation.tcp(port)];
    node.stations.push(station, other);
    expect((await link.command('arm')).status).to.equal('accepted');
    await link.until(({ armed }) => armed === true);

    const texts = [station.told(), other.told()];
    station.send(fromGround(paramSet('PEER_7', 99), 1));
    other.send(encodeAs(paramSet('PEER_7', 98), 'v2', 1, 254, 190));
    for (const text of texts) expect(await text).to.equal('svc: PARAM_SET refused while armed');
    const value = await station.hears(
      5,
      1,
      PARAM_VALUE,
      (payload) => payload.toString('latin1', 8, 14) === 'PEER_7',
    );
    expect([
      value.payload.readFloatLE(0),
      value.payload.readUInt16LE(4),
      value.payload.readUInt16LE(6),
    ]).to.deep.equal([7, PEER_PARAMS, 7]);

    station.send(fromGround(commandLong(PREFLIGHT_REBOOT, 1), 2));
    const ofReboot = (payload: Buffer): boolean => payload.readUInt16LE(0) === PREFLIGHT_REBOOT;
    const { payload: ack } = await station.hears(5, 1, COMMAND_ACK, ofReboot);
    expect([ack[2], ack[8], ack[9]]).to.deep.equal([DENIED, 255, 190]);

    const request = Object.assign(new common.FileTransferProtocol(), {
      targetNetwork: 0,
      targetSystem: 5,
      targetComponent: 1,
      // seq 300, session 2, WriteFile
      payload: [0x2c, 0x01, 2, 7, ...Array.from({ length: 247 }, () => 0)],
    });
    station.send(fromGround(request, 3));
    const { payload: nak } = await station.hears(5, 1, FTP);
    // To 255/190: seq 301, session 2, NAK, one byte: "file protected", of WriteFile.
    expect([...nak.subarray(1, 3), nak.readUInt16LE(3), ...nak.subarray(5, 9)]).to.deep.equal([
      255, 190, 301, 2, 129, 1, 7,
    ]);
    expect(nak[15]).to.equal(9);

    // One that the vehicle does not have: PARAM_ERROR, "permission denied", in no dialect of node-mavlink yet.
    const socket = connect(port, '127.0.0.1');
    const heard = new Promise<Buffer>((resolve) => {
      const framer = new Framer(({ id, system, component, buffer, payloadStart, payloadLength }) => {
        if (id === PARAM_ERROR && system === 5 && component === 1)
          resolve(Buffer.from(buffer.subarray(payloadStart, payloadStart + payloadLength)));
      });
      socket.on('data', (bytes: Buffer) => framer.push(bytes, performance.now()));
    });
    socket.write(fromGround(paramSet('NO_SUCH', 1), 4));
    const error = await heard;
    socket.destroy();
    expect([error.readInt16LE(0), error[2], error[3], error[20]]).to.deep.equal([-1, 255, 190, 3]);
    expect(error.toString('latin1', 4, 11)).to.equal('NO_SUCH');
    expect(vehicle.heard).to.not.include(PARAM_SET).and.not.include(FTP);
  });

  it('an arming counts from the instant at which it leaves, until it is refused; the refusal of a write is told at once', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const { vehicle, link } = node;
    vehicle.ready = true;
    await link.until(({ params }) => params.cached === PEER_PARAMS && !params.priming);
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    const socket = connect(port, '127.0.0.1');
    const answers: number[] = [];
    const answered = new Promise<void>((resolve) => {
      const framer = new Framer(({ id }) => {
        if (id === PARAM_ERROR || id === PARAM_VALUE) answers.push(id);
        if (answers.length === 2) resolve();
      });
      socket.on('data', (bytes: Buffer) => framer.push(bytes, performance.now()));
    });
    // In one packet: nothing that the vehicle could say comes between.
    socket.write(Buffer.concat([fromGround(commandLong(ARM, 1), 1), fromGround(paramSet('PEER_7', 99), 2)]));
    await answered;
    socket.destroy();
    // MAVSDK writes again when the value comes first (mavlink_parameter_client.cpp, process_param_value).
    expect(answers).to.deep.equal([PARAM_ERROR, PARAM_VALUE]);
    await link.until(({ guard }) => guard === true);
    await vehicle.isTold(`${ARM} 1`);

    vehicle.armed = false;
    vehicle.ready = false;
    await link.until(({ guard, armed }) => guard === false && armed === false);
    const held = link.until(({ guard }) => guard === true);
    station.send(fromGround(commandLong(ARM, 1), 3));
    expect((await held).armed, 'what is shown').to.equal(false);
    await link.until(({ guard }) => guard === false);
    station.send(fromGround(paramSet('PEER_7', 99), 4));
    await vehicle.hears(PARAM_SET);
    expect(vehicle.heard.filter((id) => id === PARAM_SET).length).to.equal(1);
  });

  it('a write for another vehicle on the same link is judged by that one’s state', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const { vehicle } = node;
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    const second = (armed: boolean): void => vehicle.write(encodeAs(heartbeat({ armed }), 'v2', 0, 9, 1));
    await station.hears(5, 1, HEARTBEAT); // it is connected
    const beat = station.hears(9, 1, HEARTBEAT);
    second(true);
    await beat;
    const told = station.told();
    station.send(fromGround(paramSet('PEER_7', 1, 9), 1));
    expect(await told).to.equal('svc: PARAM_SET refused while armed');
    station.send(fromGround(paramSet('PEER_7', 2), 2));
    await vehicle.hears(PARAM_SET);
    expect(vehicle.heard.filter((id) => id === PARAM_SET).length).to.equal(1);
  });

  it("no ground station is shown a heartbeat but the vehicle's: some take the first one for it", async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    const heard: number[] = [];
    const collect = async (): Promise<void> => {
      const { header } = await station.next(HEARTBEAT);
      heard.push(header.compid);
    };
    for (let count = 0; count < 4; count++) await collect();
    expect(heard).to.deep.equal([1, 1, 1, 1]);
  });

  it('forty silent connections keep no ground station out, and end by themselves', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const early = await GroundStation.tcp(port);
    node.stations.push(early);
    early.send(fromGround(paramSet('PEER_7', 1)));
    await node.vehicle.hears(PARAM_SET);
    const silent = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(silent.map(async (socket) => once(socket, 'connect')));
    const ended = Promise.all(silent.map(async (socket) => once(socket.resume(), 'close')));
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    await station.hears(5, 1, HEARTBEAT);
    station.send(fromGround(paramSet('PEER_7', 2), 2));
    await node.vehicle.hears(PARAM_SET, 2);
    await ended;
    await early.next(HEARTBEAT);
    expect((await peersOf(node.link, 'tcp:'))[0]?.peers).to.have.length(2);
  });

  it('an arming from a ground station is put off while a killSwitch has no ack', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const { vehicle, link } = node;
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    station.send(groundHeartbeat());
    vehicle.deafTo.add(ARM);
    const kill = link.command('killSwitch', 'KILL');
    await vehicle.isTold(`${ARM} 0`);
    station.send(fromGround(commandLong(ARM, 1), 1));
    const { payload } = await station.hears(5, 1, COMMAND_ACK, (ack) => ack.readUInt16LE(0) === ARM);
    expect(payload[2]).to.equal(TEMPORARILY_REJECTED);
    expect((await kill).status).to.equal('no_ack');
    expect(vehicle.commands.filter((told) => told.startsWith(`${ARM} `))).to.deep.equal(
      Array.from({ length: 3 }, () => `${ARM} 0`),
    );
    station.send(fromGround(commandLong(ARM, 1), 2));
    await vehicle.isTold(`${ARM} 1`);
  });

  it('a vehicle that fell silent counts as armed', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    node.vehicle.mute = true;
    await node.link.until(({ armed }) => armed === 'unknown');
    const told = station.told();
    station.send(fromGround(paramSet('SILENT', 1)));
    expect(await told).to.equal('svc: PARAM_SET refused while armed');
  });

  it('SERIAL_CONTROL passes only where the configuration says so', async () => {
    const port = await freePort();
    {
      await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
      const station = await GroundStation.tcp(port);
      node.stations.push(station);
      const told = station.told();
      station.send(fromGround(serialControl()));
      expect(await told).to.equal('svc: SERIAL_CONTROL is switched off');
      expect(node.vehicle.heard).to.not.include(SERIAL_CONTROL);
    }
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`, 'serial_control: true');
    const station = await GroundStation.tcp(port);
    node.stations.push(station);
    station.send(fromGround(serialControl()));
    await node.vehicle.hears(SERIAL_CONTROL);
  });

  it('a flood is held to its share, and another peer gets through', async () => {
    const port = await freePort();
    await using node = await rig(`endpoints: ["tcp:127.0.0.1:${port}"]`);
    const [flood, calm] = [await GroundStation.tcp(port), await GroundStation.tcp(port)];
    node.stations.push(flood, calm);
    flood.send(Buffer.concat(Array.from({ length: 10_000 }, (_, seq) => groundHeartbeat(seq & 0xff))));
    calm.send(fromGround(paramSet('CALM', 1)));
    await node.vehicle.hears(PARAM_SET);
    let limited = 0;
    while (limited === 0) {
      const [{ peers } = { peers: [] }] = await peersOf(node.link, 'tcp:');
      limited = Math.max(...peers.map(({ rx_limited }) => rx_limited));
    }
    expect(limited).to.be.greaterThan(1000);
  });
});
