import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const SLOW = 500;
const IDLE = 900;
const DEEP = 30_000;

describe('resource exhaustion', () => {
  let node: TestNode;
  const sockets: Socket[] = [];

  const open = async (): Promise<Socket> => {
    const socket = connect(node.port, '127.0.0.1');
    socket.on('error', () => undefined); // the node cuts off what is too slow
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const closed = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    if (!socket.closed) await once(socket, 'close');
    return text;
  };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  after(async () => node.stop());

  it('G1 500 sockets that never finish their headers: everybody else is answered, and they are cut off after 10 s', async () => {
    const slow = await Promise.all(Array.from({ length: SLOW }, open));
    for (const socket of slow) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const drip = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write('x');
    }, 1000);
    const started = performance.now();
    const ends = Promise.all(slow.map(closed));
    for (let count = 0; count < 20; count++) expect((await node.fetch('/healthz')).status).to.equal(200);
    const texts = await ends;
    clearInterval(drip);
    expect(performance.now() - started).to.be.lessThan(25_000);
    expect(texts.filter((text) => text === '' || text.startsWith('HTTP/1.1 408')).length).to.equal(SLOW);
  }).timeout(120_000);

  it('G2 a body that is longer than announced, or never comes, ties up nobody', async () => {
    const head = `PUT /api/config HTTP/1.1\r\nHost: localhost:${node.port}\r\nX-SVC-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
    const longer = await open();
    longer.write(`${head}Content-Length: 5\r\n\r\n{"key":"agent.name","value":"x"}`);
    const text = await closed(longer);
    expect(text).to.match(/^HTTP\/1\.1 4\d\d /);
    const never = await open();
    never.write(`${head}Content-Length: 500\r\n\r\n{"key":`);
    expect((await node.json('/api/config', { headers: { 'x-svc-key': KEY } })).status).to.equal(200);
    never.destroy();
    expect((await node.json('/api/config', { headers: { 'x-svc-key': KEY } })).status).to.equal(200);
  });

  it('G4 deep, broken and poisoned JSON is 400 or 422, and nothing is polluted', async () => {
    const send = async (body: string): Promise<number> =>
      (
        await node.fetch('/api/command', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-svc-key': KEY },
          body,
        })
      ).status;
    for (const body of [
      '['.repeat(DEEP) + ']'.repeat(DEEP),
      '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000),
      '{"cmd":NaN}',
      '{"cmd":Infinity}',
      '{"cmd":"arm",}',
      '{"cmd":"\\ud800"}',
      '{"__proto__":{"polluted":1},"cmd":"arm"}',
      '{"constructor":{"prototype":{"polluted":1}},"cmd":"arm"}',
      '',
      'null',
    ]) {
      expect(await send(body), body.slice(0, 40)).to.be.oneOf([400, 413, 422]);
    }
    expect((await node.fetch('/healthz')).status).to.equal(200);
  });

  it('G5 900 idle connections of one address leave the control socket and new callers their answer', async () => {
    await Promise.all(Array.from({ length: IDLE }, open));
    expect((await node.fetch('/healthz')).status).to.equal(200);
    expect((await svc(node.paths, 'status')).code).to.equal(0);
  }).timeout(120_000);

  it('G7 no pattern of the table grows out of hand on an adversary’s text', () => {
    const texts = ['a', '0', '.', '-', '_', '/', ':', ' ', 'a.', 'a,', '0,', 'A@1,', 'x1'].flatMap((unit) =>
      [2000, 4000, 8000].map((size) => [unit, size, `${unit.repeat(size / unit.length)}!`] as const),
    );
    for (const [at, pattern] of patternsOf(ROWS)) {
      const regex = new RegExp(`^(?:${pattern})$`, 'u');
      for (const [unit, size, text] of texts) {
        const started = performance.now();
        regex.test(text);
        // Quadratic on 8000 characters takes about a second; linear takes microseconds.
        expect(performance.now() - started, `${at}: ${pattern} on ${size} of "${unit}"`).to.be.lessThan(100);
      }
    }
  });
});

/** Every pattern of the table: path parameters, bodies, queries, answers. */
function patternsOf(rows: readonly Row[]): readonly (readonly [at: string, pattern: string])[] {
  const found: [string, string][] = [];
  const walk = (at: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'pattern' && typeof member === 'string') found.push([at, member]);
      else walk(at, member);
    }
  };
  for (const row of rows) {
    for (const part of [row.params, row.query, row.body]) walk(row.id, part);
  }
  return found;
}
