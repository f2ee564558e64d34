import { createServer } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../support/temp.ts';
import { commandLong, GroundStation, paramSet, serialControl } from './ground-station.ts';
import { LinkProcess } from './link-process.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { PeerVehicle } from './peer-vehicle.ts';

const PARAM_SET = 23;
const ATTITUDE = 30;
const COMMAND_LONG = 76;
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
