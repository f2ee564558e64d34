import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import { HeldBytes } from '../../shared/http/edge/held-bytes.ts';
import { UnreadAnswers } from '../../shared/http/edge/unread.ts';

const STUCK_MS = 20_000;
const MIB = 1024 * 1024;

describe('answers that nobody reads', () => {
  let now = 0;
  let unread: UnreadAnswers;
  let server: Server;
  const clients: Socket[] = [];

  before(async () => {
    server = createServer((_req, res) => {
      unread.watch(res, () => res.destroy());
      server.emit('asked', res);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    now = 1_000_000;
    unread = new UnreadAnswers(STUCK_MS, () => now);
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
  });
  after(() => server.close());

  /** @returns both ends of one answer */
  const asked = async (): Promise<{ readonly client: Socket; readonly res: ServerResponse }> => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    clients.push(client);
    client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [res] = (await once(server, 'asked')) as [ServerResponse];
    return { client, res };
  };
  /** More than the kernel takes. */
  const MUCH = Buffer.alloc(32 * MIB);
  const looks = (...seconds: readonly number[]): void => {
    for (const each of seconds) {
      now += each * 1000;
      unread.look();
    }
  };

  it('end, whole or a stream, once nothing of them was taken for so long', async () => {
    for (const send of [(res: ServerResponse) => res.end(MUCH), (res: ServerResponse) => res.write(MUCH)]) {
      const { res } = await asked();
      send(res);
      looks(0, 19, 1);
      expect(res.destroyed).to.equal(false);
      looks(1);
      expect(res.destroyed).to.equal(true);
    }
  });

  it('go on where something is taken now and then, or nothing waits', async () => {
    const { client, res } = await asked();
    res.write(MUCH);
    looks(0, 15);
    const drained = once(res, 'drain');
    client.resume();
    await drained;
    looks(15, 300, 300); // an idle stream
    client.pause();
    res.write(MUCH);
    looks(1, 19);
    expect(res.destroyed).to.equal(false);
    looks(2);
    expect(res.destroyed).to.equal(true);
  });
});

describe('bytes that are held for callers', () => {
  const refused = (held: HeldBytes, ...args: Parameters<HeldBytes['check']>): boolean => {
    try {
      held.check(...args);
      return false;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'E_RATE_LIMITED') throw error;
      return true;
    }
  };

  it('have a bound for each credential, wherever it is used, and for each address without one', () => {
    const held = new HeldBytes();
    held.hold('a', 'op_1', 16 * MIB);
    expect(refused(held, 'b', 'op_1', 1), 'another address').to.equal(true);
    expect(refused(held, 'a', 'op_2', 1), 'another credential').to.equal(false);
    expect(refused(held, 'a', null, 1), 'nobody').to.equal(false);
    held.hold('a', null, 16 * MIB);
    expect([refused(held, 'a', null, 1), refused(held, 'b', null, 1)]).to.deep.equal([true, false]);
    expect(refused(held, 'a', 'op_2', 1), 'strangers cost no credential anything').to.equal(false);
  });

  it('strangers together have 32 MiB, all together 128', () => {
    const held = new HeldBytes();
    for (const peer of ['a', 'b']) held.hold(peer, null, 16 * MIB);
    expect(refused(held, 'c', null, 1)).to.equal(true);
    for (let i = 0; i < 6; i++) held.hold('a', `op_${i}`, 16 * MIB);
    expect(refused(held, 'a', 'op_9', 1)).to.equal(true);
  });

  it('one thing alone may be larger; what was given back, once, is there again', () => {
    const held = new HeldBytes();
    expect(refused(held, 'a', 'op_1', 100 * MIB)).to.equal(false);
    const release = held.hold('a', 'op_1', 100 * MIB);
    expect(refused(held, 'a', 'op_1', 0)).to.equal(true);
    held.hold('a', 'op_1', 10);
    release();
    release();
    expect(refused(held, 'a', 'op_1', 16 * MIB)).to.equal(true);
    expect(refused(held, 'a', 'op_1', 16 * MIB - 10)).to.equal(false);
  });
});
