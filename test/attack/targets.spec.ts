import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { type LoneFront, startFront } from '../support/front.ts';

const TARGETS = 10_000;
/** Connections at a time. */
const AT_ONCE = 50;

/** Pieces that two parsers of a target might read differently, between pieces that are plain. */
const PIECES = [
  '/api',
  '/api/config',
  '/api/logs',
  '/api/logs/stats',
  '/api/config/schema',
  '/api/config/secret/a.b',
  '/api/observability/sessions',
  '/healthz',
  '/',
  '//',
  '/.',
  '/..',
  '/%2e%2e',
  '%2F',
  '%5c',
  '%00',
  '%41',
  ';a=b',
  '?',
  '??',
  '?limit=1',
  '&limit=2',
  '?since=-1m',
  '#x',
  '%20',
  '+',
  '\\',
  'A',
  'config',
  '/CONFIG',
  '?a=%2F..%2F',
] as const;

/** mulberry32: the same targets in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('A20 the target that was decided upon is the target that the residual receives', () => {
  let front: LoneFront;
  let residual: Server;
  const received: string[] = [];

  before(async () => {
    front = await startFront();
    residual = createServer((req, res) => {
      received.push(req.url ?? '');
      res.end('{}');
    });
    residual.listen(front.paths.residualSocket);
    await once(residual, 'listening');
  });

  after(async () => {
    await front.stop();
    residual.closeAllConnections();
    residual.close();
  });

  it(`${TARGETS} generated targets: byte for byte, or not at all`, async () => {
    const random = numbers(20);
    const targets = Array.from({ length: TARGETS }, () => {
      const count = 1 + Math.floor(random() * 4);
      const text = Array.from({ length: count }, () => PIECES[Math.floor(random() * PIECES.length)]).join('');
      return text.startsWith('/') ? text : `/${text}`;
    });
    const { matcher } = compileTable(ROWS);
    for (let at = 0; at < targets.length; at += AT_ONCE) await ask(targets.slice(at, at + AT_ONCE));
    const sent = new Map<string, number>();
    for (const target of targets) sent.set(target, (sent.get(target) ?? 0) + 1);
    for (const target of received) {
      expect(sent.has(target), `the residual received ${target}, which nobody sent`).to.equal(true);
      expect(matcher.match(target).kind, target).to.equal('found');
    }
    expect(received.length).to.be.greaterThan(100);
  }).timeout(60_000);

  /** A connection each, all of the batch side by side: what one target does to the parser must not hide the next. */
  async function ask(batch: readonly string[]): Promise<void> {
    await Promise.all(
      batch.map(async (target) => {
        const socket = connect(front.port, '127.0.0.1');
        socket.on('error', () => undefined); // the front may cut off what it cannot read
        socket.write(
          `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-SVC-Key: ${KEY}\r\nConnection: close\r\n\r\n`,
        );
        socket.resume();
        await once(socket, 'close');
      }),
    );
  }
});
