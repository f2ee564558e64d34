import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { BoundRadio, BoundRadios } from '../../front/control/relay/bound-radios.ts';
import { RelayListener } from '../../front/control/relay/relay-listener.ts';
import { silentLog } from '../support/pin-stores.ts';
import { GROUND, relayRequest, throughRelay } from '../support/radios.ts';
import { freePort } from '../support/temp.ts';

const OTHER = '0000000000a2';
const radio = (device_id: string, slot: number): BoundRadio => ({
  slot,
  device_id,
  name: '',
  fingerprint: '',
  paired_at: '2026-01-01T00:00:00.000Z',
  proved: true,
});

/** The radios that are bound, which the test binds and takes away. */
class Radios implements BoundRadios {
  readonly secrets = new Map<string, Buffer>();
  readonly #listeners = new Set<() => void>();

  list(): readonly BoundRadio[] {
    return [...this.secrets.keys()].map(radio);
  }

  relaySecret(id: string): Buffer | null {
    return this.secrets.get(id) ?? null;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  bind(id: string, secret: Buffer | null): void {
    if (secret === null) this.secrets.delete(id);
    else this.secrets.set(id, secret);
    for (const listener of this.#listeners) listener();
  }
}

describe("the drone's listener for its ground stations", () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  let radios: Radios;
  let listener: RelayListener;
  let port: number;
  let now: number;
  let asked: string[];
  /** The drone's ends of the connections, in their order. */
  let atDrone: TLSSocket[];
  let listening: Promise<unknown>;
  let isUp: () => void;

  beforeEach(async () => {
    radios = new Radios();
    [port, now, asked, atDrone] = [await freePort(), 5000, [], []];
    const up = Promise.withResolvers<void>();
    [listening, isUp] = [up.promise, up.resolve];
    listener = new RelayListener({
      host: () => '127.0.0.2',
      port,
      radios,
      createServer: (tls, admit) => {
        const server = createServer(tls, (req, res) =>
          req.url === '/held' ? res.write('{') : res.end('{"ok":true}'),
        );
        server.on('secureConnection', (socket: TLSSocket) => {
          admit(socket);
          atDrone.push(socket);
        });
        server.once('listening', isUp);
        return server;
      },
      onAsked: (ground) => asked.push(ground),
      now: () => now,
      log: silentLog,
    });
  });
  afterEach(() => listener.stop());

  const start = async (): Promise<void> => {
    listener.start();
    await listening;
  };
  const ask = async (secret: Buffer, identity = GROUND): Promise<number | string> =>
    throughRelay({ port, secret, identity }, 'GET', '/').then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => String(error.code),
    );
  const refused = ['EPROTO', 'ECONNRESET', 'ECONNREFUSED'];

  /** A request whose answer does not end. */
  async function open(secret: Buffer, identity = GROUND) {
    const request = relayRequest({ port, secret, identity }, { path: '/held' });
    request.on('error', () => undefined).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { socket } = response.on('error', () => undefined).resume();
    return { socket, closed: once(socket, 'close').then(() => 'closed') };
  }

  it('is there while a radio is bound, and not before or after', async () => {
    listener.start();
    expect(await ask(one)).to.equal('ECONNREFUSED');
    radios.bind(GROUND, one);
    await listening;
    expect(await ask(one)).to.equal(200);
    radios.bind(GROUND, null);
    expect(await ask(one)).to.be.oneOf(refused);
  });

  it('a binding that is taken away ends what is open to it at once, and nobody else', async () => {
    radios.bind(GROUND, one);
    radios.bind(OTHER, two);
    await start();
    const [first, other] = [await open(one), await open(two, OTHER)];
    radios.bind(GROUND, null);
    expect(atDrone.map(({ destroyed }) => destroyed)).to.deep.equal([true, false]);
    expect(await first.closed).to.equal('closed');
    expect(await ask(one)).to.be.oneOf(refused);
    expect([await ask(two, OTHER), other.socket.destroyed]).to.deep.equal([200, false]);
    radios.bind(OTHER, null);
    expect(await other.closed).to.equal('closed');
  });

  it('another key for the same ground station ends what the old one opened; the same one again does not', async () => {
    radios.bind(GROUND, one);
    await start();
    const held = await open(one);
    radios.bind(GROUND, Buffer.from(one));
    expect([await ask(one), held.socket.destroyed]).to.deep.equal([200, false]);
    radios.bind(GROUND, two);
    expect(await held.closed).to.equal('closed');
    expect([await ask(two), (await ask(one)) === 200]).to.deep.equal([200, false]);
  });

  it('15 s without a request are the end of the radio, and not a moment less', async () => {
    radios.bind(GROUND, one);
    radios.bind(OTHER, two);
    await start();
    const held = await open(one);
    now += 15_000;
    radios.bind(OTHER, two); // it looks after each change
    expect([await ask(two, OTHER), held.socket.destroyed]).to.deep.equal([200, false]);
    now += 1;
    radios.bind(OTHER, two);
    expect(await held.closed).to.equal('closed');
    // The next connection begins anew.
    expect(await ask(one)).to.equal(200);
  });

  it('knows who asked, and for how long nobody has', async () => {
    radios.bind(GROUND, one);
    radios.bind(OTHER, two);
    await start();
    expect(listener.silentMs).to.equal(null);
    await ask(one);
    now += 700;
    await ask(two, OTHER);
    now += 300;
    expect([asked, listener.silentMs]).to.deep.equal([[GROUND, OTHER], 300]);
  });

  it('after stop nothing is open, and no binding opens it again', async () => {
    radios.bind(GROUND, one);
    await start();
    const held = await open(one);
    listener.stop();
    expect(await held.closed).to.equal('closed');
    radios.bind(OTHER, two);
    expect(await ask(two, OTHER)).to.equal('ECONNREFUSED');
  });
});
