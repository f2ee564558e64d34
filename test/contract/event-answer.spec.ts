import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { PrincipalWatch } from '../../front/control/edge/principal-watch.ts';
import { native } from '../../front/control/middleware/native.ts';
import { ApiError } from '../../shared/errors.ts';
import { type AnyHandler, type OnProgress, Reply } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';

const plain = (ROWS as readonly Row[]).find(({ id }) => id === 'mission.delete') as Row;
type Work = (progress: OnProgress) => Promise<unknown>;

interface Event {
  readonly event: string;
  readonly data: unknown;
}

function eventsIn(text: string): Event[] {
  return [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event = '', data = '']) => ({
    event,
    data: JSON.parse(data) as unknown,
  }));
}

describe('long work answers with events', () => {
  let server: Server;
  let row: Row;
  let work: Work;

  const ask = async (accept: string): Promise<{ status: number; type: string | null; text: string }> => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept } });
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };

  before((done) => {
    const handler: AnyHandler = async ({ progress }) => work(progress);
    const step = native(new Map([[plain.id, handler]]), new PrincipalWatch(() => () => true));
    server = createServer((req, res) => {
      const pass = { row, params: {}, query: '', principal: {}, forced: false };
      Object.assign(res, { locals: { pass, origin: { peer: '' } } });
      step(req as never, res as never, (error: unknown) => {
        res.statusCode = error instanceof ApiError ? error.status : 500;
        res.end('plain');
      });
    });
    server.listen(0, '127.0.0.1', done);
  });

  beforeEach(() => {
    row = { ...plain, built: true, long: true, limits: { ...plain.limits, timeoutMs: 20_000 } };
  });

  after((done) => {
    server.close(done);
    server.closeAllConnections();
  });

  it('first the progress, then one result with status and body; quick steps are left out, the last is not', async () => {
    work = async (progress) => {
      for (let done = 1; done <= 700; done++) progress({ done, total: 700, text: 'items' });
      return Promise.resolve({ count: 700 });
    };
    const { status, type, text } = await ask('application/json;q=0.1, Text/Event-Stream');
    expect([status, type]).to.deep.equal([200, 'text/event-stream']);
    const events = eventsIn(text);
    expect(events.length).to.be.within(3, 10);
    expect(events[0]).to.deep.equal({ event: 'progress', data: { done: 1, total: 700, text: 'items' } });
    expect(events.at(-2)?.data).to.include({ done: 700 });
    expect(events.at(-1)).to.deep.equal({ event: 'result', data: { status: 200, body: { count: 700 } } });
  });

  it('a failure is a result with its own status, and so is the time-out', async () => {
    work = async () => Promise.reject(new ApiError('E_BUSY', 'Not now.', { by: 'x' }));
    expect(eventsIn((await ask('text/event-stream')).text)).to.deep.equal([
      { event: 'result', data: { status: 409, body: { detail: 'Not now.', code: 'E_BUSY', by: 'x' } } },
    ]);
    row = { ...row, limits: { ...row.limits, timeoutMs: 100 } };
    work = async () => new Promise(() => undefined);
    expect(eventsIn((await ask('text/event-stream')).text)[0]?.data).to.have.property('status', 504);
    row = { ...row, limits: { ...row.limits, timeoutMs: 20_000 } };
    work = async () => Promise.resolve(new Reply(202, { later: true }));
    expect(eventsIn((await ask('text/event-stream')).text)[0]?.data).to.deep.equal({
      status: 202,
      body: { later: true },
    });
  });

  it('without the header, and on a row that is not long, it is a plain answer at the end', async () => {
    work = async (progress) => {
      progress({ done: 0, total: null, text: 'x' });
      return Promise.resolve({ a: 1 });
    };
    expect(await ask('*/*')).to.deep.include({ status: 200, text: '{"a":1}\n' });
    row = { ...row, long: false };
    expect(await ask('text/event-stream')).to.deep.include({ type: 'application/json', text: '{"a":1}\n' });
  });
});
