import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { Relays } from '../../residual/video/viewers/relays.ts';
import { isOneHost, Unproven } from '../../residual/video/viewers/unproven.ts';
import { Viewer } from '../../residual/video/viewers/viewer.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { watcher } from '../support/video-node.ts';

const HOOKS = {
  onKeyWanted: () => undefined,
  needKbps: () => 1000,
  now: () => 0,
  onConnected: () => undefined,
  onGone: () => undefined,
  onHeard: () => undefined,
};
/** Five tries of a check take 50 × (1 + 2 + 4 + 8) ms, and they begin 20 ms apart. */
const CHECKED_MS = 3000;

async function sink(host: string): Promise<{ socket: Socket; port: number; bytes: () => number }> {
  const socket = createSocket('udp4');
  let bytes = 0;
  socket.on('message', (data) => {
    // A check of STUN (RFC 8489 5), and nothing else.
    expect([data.readUInt16BE(0), data.readUInt32BE(4)]).to.deep.equal([0x0001, 0x2112a442]);
    bytes += data.length + 28;
  });
  socket.bind(0, host);
  await once(socket, 'listening');
  return { socket, port: socket.address().port, bytes: () => bytes };
}

describe('addresses in an offer', () => {
  it('get next to nothing before they have answered a check, however many ports and playbacks name them', async () => {
    const log = createLogger('test');
    const sinks = await Promise.all(Array.from({ length: 40 }, async () => sink('127.0.0.2')));
    const unproven = new Unproven(() => 0);
    const relays = new Relays({ now: () => 0, log });
    const viewers: Viewer[] = [];
    try {
      const { peer, offer } = await watcher();
      await peer.close();
      const lines = sinks.map(
        ({ port }, at) => `a=candidate:${at} 1 udp 2122260223 127.0.0.2 ${port} typ host`,
      );
      const named = offer
        .replace(/^a=(?:candidate:.*|end-of-candidates)\r\n/gm, '')
        .replace(/^a=ice-ufrag:.*$/m, `$&\r\n${lines.join('\r\n')}`);
      for (let each = 0; each < 3; each++)
        viewers.push(await Viewer.open(named, HOOKS, { relays, unproven, servers: [], log }, Math.random));
      await wait(CHECKED_MS);
      const bytes = sinks.reduce((sum, each) => sum + each.bytes(), 0);
      expect(bytes).to.be.within(1, 4096);
    } finally {
      for (const viewer of viewers) await viewer.close();
      for (const { socket } of sinks) socket.close();
    }
  });

  for (const [host, one] of [
    ['10.0.0.7', true],
    ['fe80::1%eth0', true],
    ['2001:db8::1', true],
    ['224.0.0.251', false],
    ['255.255.255.255', false],
    ['0.0.0.0', false],
    ['ff02::fb', false],
    ['::', false],
    ['::ffff:224.0.0.1', false],
    ['somebody.example', false],
  ] as const)
    it(`${host} is ${one ? 'checked' : 'not checked at all'}`, () => {
      expect(isOneHost(host)).to.equal(one);
    });

  it('a host gets its share again with time, and at once what was sent before it answered', () => {
    let now = 0;
    const unproven = new Unproven(() => now);
    expect(unproven.take('a', 4000)).to.equal(true);
    expect(unproven.take('a', 1000)).to.equal(false);
    expect(unproven.take('b', 1000)).to.equal(true);
    now = 30_000;
    expect(unproven.take('a', 2000)).to.equal(true);
    expect(unproven.take('a', 1000)).to.equal(false);
    unproven.giveBack('a', 6000);
    expect(unproven.take('a', 4000)).to.equal(true);
  });
});
