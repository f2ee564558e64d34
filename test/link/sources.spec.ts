import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { FixedPort } from '../../front/link/sources/fixed-port.ts';
import type { SerialLine } from '../../front/link/sources/serial-line.ts';
import { UdpTransport } from '../../front/link/sources/udp-transport.ts';
import type { SerialPortEntry } from '../../shared/flight/serial-ports.ts';
import { frameAt } from '../../shared/mavlink/frame.ts';
import { freePort } from '../support/temp.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { LinkProcess } from './link-process.ts';
import { attitude, encodeAs, heartbeat } from './mavlink-samples.ts';
import { SILENT_LOG } from './rig.ts';

class UdpVehicle {
  readonly #socket: Socket;
  readonly heard: Buffer[] = [];
  #wake: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes) => {
      this.heard.push(bytes);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  static async bind(port = 0): Promise<UdpVehicle> {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return new UdpVehicle(socket);
  }

  beat(port: number, system: number): void {
    this.#socket.send(encodeAs(heartbeat(), 'v2', 0, system), port, '127.0.0.1');
  }

  send(bytes: Buffer, port: number): void {
    this.#socket.send(bytes, port, '127.0.0.1');
  }

  async hears(): Promise<void> {
    if (this.heard.length === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  get port(): number {
    return this.#socket.address().port;
  }

  close(): void {
    this.#socket.close();
  }
}

describe('sources', () => {
  it('udp: whoever speaks MAVLink is a peer, and who does not is none; commands go to the vehicle alone', async () => {
    const port = await freePort();
    const link = await LinkProcess.start(`udp:127.0.0.1:${port}`);
    const [vehicle, stranger] = [await UdpVehicle.bind(), await UdpVehicle.bind()];
    try {
      stranger.send(Buffer.from('hello'), port);
      vehicle.beat(port, 9);
      const state = await link.until(({ mavlink_alive }) => mavlink_alive);
      expect(state).to.include({ system_id: 9, fc_baud: null, fc_port: `udp:127.0.0.1:${vehicle.port}` });
      await vehicle.hears();
      expect(stranger.heard).to.deep.equal([]);
      stranger.beat(port, 10);
      await stranger.hears(); // our heartbeat, which is for everybody
      vehicle.send(encodeAs(attitude(5), 'v2', 1, 9), port);
      const next = await link.until(({ telemetry }) => telemetry.attitude.roll !== null);
      expect(next).to.include({ system_id: 9, fc_port: `udp:127.0.0.1:${vehicle.port}` });
      await link.calls.command({ cmd: 'land', args: [], timeout_ms: 200 });
      const commands = (at: UdpVehicle): number =>
        at.heard.filter((bytes) => bytes.readUIntLE(7, 3) === 76).length;
      expect(commands(vehicle)).to.be.above(0);
      expect(commands(stranger)).to.equal(0);
    } finally {
      vehicle.close();
      stranger.close();
      await link.stop();
    }
  });

  it('udpout: we speak first, also while nobody listens there yet', async () => {
    const port = await freePort();
    const link = await LinkProcess.start(`udpout:127.0.0.1:${port}`);
    try {
      await link.until(({ transport_open, counters }) => transport_open && counters.tx_frames > 1);
      const vehicle = createSocket('udp4');
      vehicle.bind(port, '127.0.0.1');
      const [, sender] = (await once(vehicle, 'message')) as [Buffer, { port: number }];
      vehicle.send(encodeAs(heartbeat(), 'v2', 0, 3), sender.port, '127.0.0.1');
      expect((await link.until(({ mavlink_alive }) => mavlink_alive)).system_id).to.equal(3);
      vehicle.close();
    } finally {
      await link.stop();
    }
  });

  it('udpout: from the same local port after each restart, since a vehicle answers the one that it heard first', async () => {
    const port = await freePort();
    const vehicle = createSocket('udp4');
    vehicle.bind(port, '127.0.0.1');
    const senders: number[] = [];
    for (let start = 0; start < 2; start++) {
      const link = await LinkProcess.start(`udpout:127.0.0.1:${port}`);
      const [, sender] = (await once(vehicle, 'message')) as [Buffer, { port: number }];
      senders.push(sender.port);
      await link.stop();
    }
    // Another program has it: any other port.
    const taken = createSocket('udp4').bind({ port: senders[0] ?? 0, exclusive: true });
    await once(taken, 'listening');
    const link = await LinkProcess.start(`udpout:127.0.0.1:${port}`);
    let [, sender] = (await once(vehicle, 'message')) as [Buffer, { port: number }];
    while (sender.port === senders[0])
      [, sender] = (await once(vehicle, 'message')) as [Buffer, { port: number }];
    await link.stop();
    taken.close();
    vehicle.close();
    expect(senders[1]).to.equal(senders[0]);
  });

  it('udpout to everybody on a network: whoever answers is the vehicle', async () => {
    const port = await freePort();
    const vehicle = createSocket('udp4');
    vehicle.bind(port); // hears what is sent to all
    const link = await LinkProcess.start(`udpout:127.255.255.255:${port}`);
    try {
      const [, sender] = (await once(vehicle, 'message')) as [Buffer, { port: number }];
      vehicle.send(encodeAs(heartbeat(), 'v2', 0, 3), sender.port, '127.0.0.1');
      expect((await link.until(({ mavlink_alive }) => mavlink_alive)).system_id).to.equal(3);
    } finally {
      vehicle.close();
      await link.stop();
    }
  });

  it('udp: a peer for each sender; a frame goes to whom its target was heard from; nobody is displaced, and the last one stays', async () => {
    const clock = new FakeClock();
    const port = await freePort();
    const own = createSocket('udp4');
    const transport = new UdpTransport({
      mode: 'listen',
      host: '127.0.0.1',
      port,
      clock,
      log: SILENT_LOG,
      createSocket: () => own,
    });
    const events: string[] = [];
    const waiting: (() => void)[] = [];
    const next = async (): Promise<void> => new Promise<void>((resolve) => waiting.push(resolve));
    const bound = once(own, 'listening');
    transport.start({
      onOpen: () => events.push('open'),
      onClose: () => events.push('close'),
      onGone: (from) => events.push(`gone ${from}`),
      onData: (bytes, from = '') => {
        const frame = frameAt(Buffer.from(bytes));
        transport.learn(frame, from, frame.system === 1);
        for (const wake of waiting.splice(0)) wake();
      },
    });
    await bound;
    const speak = async (who: UdpVehicle, system: number): Promise<void> => {
      const came = next();
      who.beat(port, system);
      await came;
    };
    const heardBy = async (send: () => void, ...who: readonly UdpVehicle[]): Promise<void> => {
      for (const each of everybody) each.heard.length = 0;
      send();
      for (const each of who) await each.hears();
      const silent = everybody.filter((each) => !who.includes(each));
      expect(silent.map(({ heard }) => heard.length)).to.deep.equal(silent.map(() => 0));
    };
    const [station, vehicle, other] = [
      await UdpVehicle.bind(),
      await UdpVehicle.bind(),
      await UdpVehicle.bind(),
    ];
    const everybody = [station, vehicle, other];
    const bytes = encodeAs(heartbeat(), 'v2', 0, 9);
    try {
      await speak(station, 255);
      await speak(vehicle, 1);
      await speak(other, 2);
      expect(transport.port).to.equal(`udp:127.0.0.1:${vehicle.port}`);
      await heardBy(() => transport.write(bytes, { system: 1, component: 1 }), vehicle);
      await heardBy(() => transport.write(bytes, { system: 2, component: 0 }), other);
      await heardBy(() => transport.write(bytes), station, vehicle, other);
      await heardBy(() => transport.write(bytes, { system: 77, component: 1 }), station, vehicle, other);
      await clock.advance(13_000);
      expect(events.toSorted()).to.deep.equal(
        ['open', `gone 127.0.0.1:${station.port}`, `gone 127.0.0.1:${other.port}`].toSorted(),
      );
      // It may hear us though we do not hear it.
      expect(transport.open).to.equal(true);
      await heardBy(() => transport.write(bytes, { system: 1, component: 1 }), vehicle);
      // So many that speak do not push it out either.
      const crowd = await Promise.all(Array.from({ length: 40 }, async () => UdpVehicle.bind()));
      for (const each of crowd) await speak(each, 200);
      expect(events.filter((each) => each.startsWith('gone'))).to.have.length(2 + 40 - 15);
      await heardBy(() => transport.write(bytes, { system: 1, component: 1 }), vehicle);
      for (const each of crowd) each.close();
      // It speaks from a new place: the old one goes with time.
      await speak(other, 1);
      expect(transport.port).to.equal(`udp:127.0.0.1:${other.port}`);
      await clock.advance(13_000);
      await heardBy(() => transport.write(bytes, { system: 1, component: 1 }), other);
    } finally {
      for (const each of everybody) each.close();
      await transport.stop();
    }
  });

  it('udp: what the kernel threw away, as nobody took it in time, is counted; before, it is not known', async () => {
    const clock = new FakeClock();
    const port = await freePort();
    const own = createSocket({ type: 'udp4', recvBufferSize: 4096 });
    const { promise: came, resolve } = Promise.withResolvers<void>();
    const transport = new UdpTransport({
      mode: 'listen',
      host: '127.0.0.1',
      port,
      clock,
      log: SILENT_LOG,
      createSocket: () => own,
    });
    const bound = once(own, 'listening');
    let received = 0;
    transport.start({
      onOpen: () => undefined,
      onData: () => {
        received++;
        resolve();
      },
      onClose: () => undefined,
    });
    await bound;
    expect(transport.counters.rxKernelDropped).to.equal(null);
    const vehicle = createSocket('udp4');
    const frame = encodeAs(heartbeat(), 'v2', 0, 1);
    vehicle.connect(port, '127.0.0.1');
    await once(vehicle, 'connect');
    // Each of these is in the kernel before the transport can take one.
    for (let sent = 0; sent < 500; sent++) vehicle.send(frame);
    await came;
    while (transport.counters.rxKernelDropped === null) await clock.advance(1000);
    const dropped = transport.counters.rxKernelDropped;
    expect(dropped).to.be.above(0);
    expect(received + dropped).to.equal(500);
    vehicle.close();
    await transport.stop();
  });

  it('serial: a configured device that comes back under another number is known by its by-id name', async () => {
    const clock = new FakeClock();
    let ports: SerialPortEntry[] = [{ path: '/dev/ttyACM0', byId: '/dev/serial/by-id/usb-fc' }];
    const opened: string[] = [];
    const line: SerialLine = {
      queuedBytes: 0,
      write: () => undefined,
      listen: () => undefined,
      close: async () => Promise.resolve(),
    };
    const finder = new FixedPort({
      path: '/dev/ttyACM0',
      baud: 115_200,
      clock,
      log: SILENT_LOG,
      list: async () => Promise.resolve(ports),
      open: async (path) => {
        if (!ports.some((port) => port.path === path)) throw new Error('no such device');
        opened.push(path);
        return Promise.resolve(line);
      },
    });
    finder.start(() => undefined);
    await settle();
    ports = [{ path: '/dev/ttyACM1', byId: '/dev/serial/by-id/usb-other' }];
    finder.start(() => undefined);
    await settle();
    expect(opened).to.deep.equal(['/dev/ttyACM0']);
    ports = [...ports, { path: '/dev/ttyACM2', byId: '/dev/serial/by-id/usb-fc' }];
    await clock.advance(2000);
    await settle();
    expect(opened).to.deep.equal(['/dev/ttyACM0', '/dev/ttyACM2']);
    finder.stop();
  });
});
