import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { expect } from 'chai';
import { systemClock } from '../../front/link/clock.ts';
import { TcpTransport } from '../../front/link/sources/tcp-transport.ts';
import { FakeClock } from './fake-clock.ts';
import { SILENT_LOG } from './rig.ts';

async function listening(onSocket: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(onSocket);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

/** The transport's events as promises, in the order in which they came. */
class Events {
  readonly #log: string[] = [];
  #wake: () => void = () => undefined;

  onOpen(): void {
    this.#add('open');
  }

  onData(chunk: Uint8Array): void {
    this.#add(`data ${Buffer.from(chunk).toString()}`);
  }

  onClose(): void {
    this.#add('close');
  }

  async next(): Promise<string> {
    for (;;) {
      const first = this.#log.shift();
      if (first !== undefined) return first;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #add(event: string): void {
    this.#log.push(event);
    this.#wake();
  }
}

describe('the TCP transport', () => {
  it('connects, passes bytes both ways, and connects again after the peer went away', async () => {
    const sockets: Socket[] = [];
    const heard: string[] = [];
    const { server, port } = await listening((socket) => {
      sockets.push(socket);
      socket.on('data', (chunk) => heard.push(chunk.toString()));
      socket.write('hello');
    });
    const events = new Events();
    const transport = new TcpTransport({
      host: '127.0.0.1',
      port,
      clock: systemClock(),
      log: SILENT_LOG,
      connect,
    });
    expect(transport.write(Buffer.from('too early'))).to.equal(false);
    transport.start(events);
    expect(await events.next()).to.equal('open');
    expect(transport).to.include({ open: true, port: `tcp:127.0.0.1:${port}`, baud: null });
    expect(await events.next()).to.equal('data hello');
    expect(transport.write(Buffer.from('to the vehicle'))).to.equal(true);
    sockets[0]?.resetAndDestroy();
    expect(await events.next()).to.equal('close');
    expect(transport.port).to.equal(null);
    expect(await events.next()).to.equal('open');
    expect(await events.next()).to.equal('data hello');
    expect(transport.counters).to.include({ reconnects: 1, txFrames: 1, txBytes: 14, txDropped: 1 });
    expect(sockets.length).to.equal(2);
    await transport.stop();
    server.close();
  });

  it('drops, counts and does not wait when the peer does not read', async () => {
    const sockets: Socket[] = [];
    const { server, port } = await listening((socket) => {
      socket.pause();
      sockets.push(socket);
    });
    const events = new Events();
    const transport = new TcpTransport({
      host: '127.0.0.1',
      port,
      clock: systemClock(),
      log: SILENT_LOG,
      connect,
    });
    transport.start(events);
    expect(await events.next()).to.equal('open');
    const frame = Buffer.alloc(16 * 1024);
    let accepted = 0;
    while (transport.write(frame)) if (++accepted > 10_000) break;
    expect(accepted).to.be.below(10_000);
    expect(transport.counters).to.include({ txDropped: 1, txFrames: accepted });
    await transport.stop();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('tries again with growing pauses, never more than 4 s, while nobody answers', async () => {
    const clock = new FakeClock();
    const tries: number[] = [];
    const transport = new TcpTransport({
      host: '127.0.0.1',
      port: 9,
      clock,
      log: SILENT_LOG,
      connect: () => {
        tries.push(clock.now());
        return new Socket(); // never connects
      },
    });
    transport.start(new Events());
    await clock.advance(27_000);
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0) - 2000); // 2 s: the time-out of each
    expect(pauses).to.deep.equal([250, 500, 1000, 2000, 4000, 4000]);
    await transport.stop();
    expect(clock.pending).to.equal(0);
  });

  it('opens a connection anew that has been silent for 15 s', async () => {
    const clock = new FakeClock();
    const { server, port } = await listening(() => undefined);
    const events = new Events();
    const transport = new TcpTransport({ host: '127.0.0.1', port, clock, log: SILENT_LOG, connect });
    transport.start(events);
    expect(await events.next()).to.equal('open');
    await clock.advance(14_000);
    expect(transport.open).to.equal(true);
    await clock.advance(1500);
    expect(await events.next()).to.equal('close');
    await clock.advance(250);
    expect(await events.next()).to.equal('open');
    await transport.stop();
    server.close();
  });
});
