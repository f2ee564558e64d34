import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { minimal } from 'node-mavlink';
import { describeWith } from '../support/needs.ts';
import { SerialLine } from '../support/socat.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const MAIN = join(import.meta.dirname, '../rig/sim/main.ts');

/** A UDP socket as a stream to whoever spoke last, or to `port`. */
function overUdp(socket: Socket, port: number | undefined): Duplex {
  let to = port;
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => socket.send(chunk, to, '127.0.0.1', () => done()),
  });
  socket.on('message', (bytes, from) => {
    to = from.port;
    stream.push(bytes);
  });
  stream.on('close', () => socket.close());
  return stream;
}

async function udpSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

describeWith('socat')('sim transports', () => {
  it('sends to an address by UDP from the start, and hears from there', async () => {
    const socket = await udpSocket();
    const client = new SimClient(overUdp(socket, undefined));
    await using sim = await SimProcess.start('--udp-out', `127.0.0.1:${socket.address().port}`);
    expect(sim.port).to.be.greaterThan(0);
    await client.fastTelemetry();
    expect(await client.command(520, 1)).to.equal(0);
    client.close();
  });

  it('goes on sending when nobody is at the other end yet', async () => {
    const first = await udpSocket();
    const { port } = first.address();
    first.close();
    await once(first, 'close');
    await using sim = await SimProcess.start('--udp-out', `127.0.0.1:${port}`);
    await sim.fault({});
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    const client = new SimClient(overUdp(socket, sim.port));
    await client.next(minimal.Heartbeat);
    client.close();
  });

  it('listens by UDP and answers whoever spoke last', async () => {
    await using sim = await SimProcess.start('--udp-in', '127.0.0.1:0');
    const client = new SimClient(overUdp(await udpSocket(), sim.port));
    client.order(520, 1);
    await client.ack(520);
    const second = new SimClient(overUdp(await udpSocket(), sim.port));
    second.order(520, 1);
    await second.ack(520);
    await second.next(minimal.Heartbeat);
    client.close();
    second.close();
  });

  it('speaks on a serial line, and ends without a fault when that is pulled out', async () => {
    const dir = await tempDir();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connected = once(server, 'connection') as Promise<[Duplex]>;
    const line = await SerialLine.plug(join(dir, 'ttySIM'), `TCP:127.0.0.1:${port}`);
    const [far] = await connected;
    try {
      await using sim = await SimProcess.start('--serial', line.path, '--baud', '57600');
      const client = new SimClient(far);
      await client.fastTelemetry();
      expect(await client.command(520, 1)).to.equal(0);
      const gone = once(sim.child, 'exit');
      await line.unplug();
      expect(await gone).to.deep.equal([0, null]);
      client.close();
    } finally {
      await line.unplug();
      far.destroy();
      server.close();
      await removeDir(dir);
    }
  });

  it('wants one way only, and says which option is wrong', async () => {
    for (const [args, words] of [
      [['--serial', '/dev/null', '--udp-in', '127.0.0.1:1'], /only one of/],
      [['--udp-out', 'here'], /--udp-out is HOST:PORT/],
      [['--firmware', 'px4', '--vehicle', 'rover'], /--vehicle/],
      [['--fleet', '2', '--udp-in', '127.0.0.1:0'], /--shared/],
      [['--ack-result', '176=MAYBE'], /--ack-result/],
      [['--signing-key', 'abc'], /--signing-key/],
    ] as const) {
      const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
      let text = '';
      child.stderr.on('data', (chunk) => (text += String(chunk)));
      const [code] = await once(child, 'close');
      expect([code, text]).to.satisfy(([c, t]: [number, string]) => c === 1 && words.test(t), text);
    }
  });
});
