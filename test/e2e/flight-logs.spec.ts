import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { simulatedLogByte } from '../../bin/sim/mavlink/log-link.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly body: Json };

const SIZE = 40_003;
const headers = { 'x-svc-key': KEY, 'content-type': 'application/json' };

function bytesOf(id: number, start = 0, end = SIZE): Buffer {
  return Buffer.from(Array.from({ length: end - start }, (_, i) => simulatedLogByte(id, start + i)));
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

class Flown implements AsyncDisposable {
  readonly node: TestNode;
  readonly sim: SimProcess;

  private constructor(node: TestNode, sim: SimProcess) {
    this.node = node;
    this.sim = sim;
  }

  static async start(...args: readonly string[]): Promise<Flown> {
    const sim = await SimProcess.start('--param-rate', '4000', '--log-size', String(SIZE), ...args);
    const node = await TestNode.start({
      simulated: false,
      pairing: { key: KEY },
      config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    await linkState(
      node,
      ({ mavlink_alive, params }) => mavlink_alive && !params.priming && params.cached > 0,
    );
    return new Flown(node, sim);
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.node.json(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** The answer's head; the bytes have not been read yet. */
  async open(id: number, range?: string): Promise<IncomingMessage> {
    const request = get(`${this.node.url}/api/flight-logs/${id}`, {
      headers: { 'x-svc-key': KEY, ...(range === undefined ? {} : { range }) },
    });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return answer;
  }

  async read(
    id: number,
    range?: string,
  ): Promise<{ readonly answer: IncomingMessage; readonly bytes: Buffer }> {
    const answer = await this.open(id, range);
    return { answer, bytes: Buffer.concat((await answer.toArray()) as Buffer[]) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node.stop();
    await this.sim[Symbol.asyncDispose]();
  }
}

describe('logs of the vehicle over HTTP', () => {
  it('ArduPilot: list, download, ranges, what is held while armed, erase', async () => {
    await using flown = await Flown.start();
    const list = await flown.send('GET', '/api/flight-logs');
    expect(list.body).to.deep.equal({
      logs: [1, 2].map((id) => ({
        id,
        size: SIZE,
        time: new Date((1_760_000_000 + id * 600) * 1000).toISOString(),
        held: 0,
        complete: false,
      })),
      count: 2,
      from: 'vehicle',
      note: null,
    });
    const { answer, bytes } = await flown.read(1);
    // It may end before its listed size: no length is promised.
    expect([answer.statusCode, answer.headers['content-length']]).to.deep.equal([200, undefined]);
    expect(digest(bytes)).to.equal(digest(bytesOf(1)));

    // From the file now.
    const part = await flown.read(1, 'bytes=500-1499');
    expect([part.answer.statusCode, part.answer.headers['content-range']]).to.deep.equal([
      206,
      `bytes 500-1499/${SIZE}`,
    ]);
    expect(digest(part.bytes)).to.equal(digest(bytesOf(1, 500, 1500)));
    // While it comes.
    const tail = await flown.read(2, `bytes=${SIZE - 1000}-`);
    expect([tail.answer.statusCode, tail.answer.headers['content-length']]).to.deep.equal([206, '1000']);
    expect(digest(tail.bytes)).to.equal(digest(bytesOf(2, SIZE - 1000)));
    for (const id of [1, 2]) {
      const beyond = await flown.read(id, `bytes=${SIZE}-`);
      expect(beyond.answer.statusCode, String(id)).to.equal(416);
      expect(JSON.parse(beyond.bytes.toString())).to.include({ code: 'E_RANGE_NOT_SATISFIABLE' });
    }
    expect((await flown.send('GET', '/api/flight-logs/3')).body).to.include({ code: 'E_NOT_FOUND' });
    expect((await flown.send('GET', '/api/flight-logs/99999')).body).to.include({ code: 'E_NOT_FOUND' });

    await armable(flown.node, headers);
    expect((await flown.send('POST', '/api/command', { cmd: 'mode', args: ['GUIDED'] })).status).to.equal(
      200,
    );
    expect((await flown.send('POST', '/api/command', { cmd: 'arm' })).body).to.include({
      status: 'accepted',
    });
    await linkState(flown.node, ({ armed }) => armed === true);
    expect((await flown.send('GET', '/api/flight-logs')).body).to.deep.include({ from: 'node', count: 2 });
    expect(digest((await flown.read(1)).bytes), 'what the node holds').to.equal(digest(bytesOf(1)));
    const refused = await flown.send('GET', '/api/flight-logs/3?force=1');
    expect([refused.status, refused.body['code'], refused.body['override']]).to.deep.equal([
      409,
      'E_ARMED',
      undefined,
    ]);
    expect((await flown.send('DELETE', '/api/flight-logs')).body).to.include({ code: 'E_ARMED' });
    await flown.send('POST', '/api/command', { cmd: 'killSwitch', args: ['KILL'] });
    await linkState(flown.node, ({ guard }) => guard === false);

    expect((await flown.send('DELETE', '/api/flight-logs')).body).to.deep.equal({ erased: 3, left: 0 });
    expect((await flown.send('GET', '/api/flight-logs')).body).to.deep.include({
      logs: [],
      from: 'vehicle',
      note: null,
    });
  });

  it('PX4 over a line that loses a fifth, with svc-link killed in the middle: one answer brings it all', async () => {
    await using flown = await Flown.start('--firmware', 'px4', '--log-rate', '20000');
    expect((await flown.send('GET', '/api/flight-logs')).body).to.deep.include({ count: 2 });
    await flown.sim.fault({ dropFrames: 0.2 });
    const answer = await flown.open(0);
    const parts: Buffer[] = [];
    let killed = false;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      parts.push(chunk);
      if (killed || Buffer.concat(parts).length < SIZE / 3) continue;
      killed = true;
      process.kill(flown.node.services.find(({ name }) => name === 'svc-link')?.pid ?? 0, 'SIGKILL');
    }
    expect(killed).to.equal(true);
    expect(digest(Buffer.concat(parts))).to.equal(digest(bytesOf(0)));
    await flown.sim.fault({ dropFrames: 0 });
    const names = await readdir(flown.node.paths.flightLogs);
    expect(names).to.have.length(1);
    expect(names[0]).to.match(new RegExp(`_0_${SIZE}_1760000000\\.log$`));
  });

  it('PX4 without logs says nothing, and the answer says so', async () => {
    await using flown = await Flown.start('--firmware', 'px4', '--logs', '0');
    const { body } = await flown.send('GET', '/api/flight-logs');
    expect(body).to.deep.include({ logs: [], count: 0, from: 'vehicle' });
    expect(body['note']).to.include('did not answer');
  });

  it('a client that goes away leaves what came: the next one gets it at once, and the rest', async () => {
    await using flown = await Flown.start('--log-rate', '20000');
    const first = await flown.open(2);
    await once(first, 'data');
    first.destroy();
    const busy = await flown.send('GET', '/api/flight-logs/1');
    expect([busy.status, busy.body['code']]).to.deep.equal([409, 'E_BUSY']);
    expect(digest((await flown.read(2)).bytes)).to.equal(digest(bytesOf(2)));
  });
});
