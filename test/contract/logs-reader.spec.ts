import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import { logHandlers } from '../../residual/app/logs/log-handlers.ts';
import { LogReader } from '../../residual/app/logs/log-reader.ts';
import { LogStore } from '../../residual/app/logs/log-store.ts';
import { LogTail } from '../../residual/app/logs/log-tail.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { Reply } from '../../shared/routes/handler.ts';
import { LOG_LEVELS, type LogRecord } from '../../shared/rpc/logs.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ROWS = 1200;
const START_US = 1_700_000_000_000_000;
/** Every fourth record has the time of the one before, and the last fifty came late. */
const RECORDS: readonly LogRecord[] = Array.from({ length: ROWS }, (_, at) => ({
  tsUs: at < ROWS - 50 ? START_US + (at - (at % 4 === 3 ? 1 : 0)) * 1000 : START_US + at,
  source: `svc-${at % 3}`,
  level: LOG_LEVELS[at % 5] ?? 'info',
  message: `record ${at} ${at % 7 === 0 ? 'Propeller' : 'rudder'}`,
  fields: null,
}));

interface Entry {
  readonly seq: number;
  readonly message: string;
}
interface List {
  readonly entries: readonly Entry[];
  readonly total: number | null;
}

describe('the reader of the log store', () => {
  let dir = '';
  let store: LogStore;
  let reader: LogReader;
  let tail: LogTail;
  let handlers: ReturnType<typeof logHandlers>;

  const ask = async (
    id: 'logs.get' | 'logs.stream.get' | 'logs.export.get',
    query: string,
  ): Promise<unknown> =>
    handlers[id]({ query, principal: { kind: 'key', id: 'pairing-key', scopes: null } } as never);
  const list = async (query: string): Promise<List> => (await ask('logs.get', query)) as List;
  const streamed = async (id: 'logs.stream.get' | 'logs.export.get', query: string): Promise<Readable> => {
    const reply = await ask(id, query);
    if (!(reply instanceof Reply)) throw new Error('no stream');
    return reply.body as Readable;
  };
  const append = (from: number, records: readonly LogRecord[]): void =>
    store.append(
      'test',
      records.map((record, at) => ({ seq: from + at, record })),
    );

  before(async () => {
    dir = await tempDir();
    const path = join(dir, 'logs.db');
    const { db } = openLogDatabase(path, Date.now(), createLogger('test', 'silent'));
    store = new LogStore(db, path, { maxBytes: 1 << 30, maxAgeDays: 30 }, () => START_US);
    store.beginSession('boot', 'test');
    append(1, RECORDS.slice(0, 600));
    store.beginSession('flight', 'test');
    append(601, RECORDS.slice(600, 700));
    store.endSession('flight');
    append(701, RECORDS.slice(700));
    reader = new LogReader(path);
    tail = new LogTail();
    const none = async (): Promise<readonly string[]> => Promise.resolve([]);
    handlers = logHandlers({
      reader,
      writer: {
        flush: async () => store.accepted,
        follow: async () => store.newestId(),
        sizes: () => ({ db_size_bytes: 0, wal_size_bytes: 0, limits: { max_mb: 1, max_age_days: 1 } }),
      },
      tail,
      kept: { tlog: none, recording: none },
      rows: [],
      now: Date.now,
    });
  });

  after(async () => {
    tail.stop();
    await reader.stop();
    store.close();
    await removeDir(dir);
  });

  it('while a query is on its way, the process answers others', async () => {
    const order: string[] = [];
    const query = list('text=record').then(() => order.push('query'));
    await turn();
    order.push('another request');
    await query;
    expect(order).to.deep.equal(['another request', 'query']);
  });

  it('a query is answered between two parts of an export', async () => {
    const parts = (await streamed('logs.export.get', ''))[Symbol.asyncIterator]();
    const first = String((await parts.next()).value);
    expect(first.trim().split('\n')).to.have.length.within(1, 1000);
    expect((await list('limit=1')).entries).to.have.length(1);
    let rest = '';
    for (let part = await parts.next(); part.done !== true; part = await parts.next())
      rest += String(part.value);
    expect((first + rest).trim().split('\n')).to.have.length(ROWS);
  });

  const fits = (query: URLSearchParams, { tsUs, source, level, message }: LogRecord, at: number): boolean =>
    (!query.has('service') || query.get('service')?.split(',').includes(source) === true) &&
    LOG_LEVELS.indexOf(level) >= LOG_LEVELS.findIndex((name) => name === (query.get('level') ?? 'trace')) &&
    tsUs >= Number(query.get('from') ?? 0) &&
    tsUs < Number(query.get('to') ?? Infinity) &&
    (query.get('session') !== '2' || (at >= 600 && at < 700)) &&
    message.toLowerCase().includes(query.get('text') ?? '');

  const from = START_US + 300_000;
  for (const text of [
    '',
    'level=warn',
    'level=error&service=svc-1',
    'level=info',
    'service=svc-2',
    'service=svc-2,svc-0,svc-2',
    'service=svc-2,svc-0&level=debug&text=propeller',
    'service=svc-1&session=2',
    'service=svc-none',
    'session=2',
    'session=2&level=warn&text=rudder',
    'text=propeller',
    'text=prop&service=svc-1',
    `from=${from}&to=${from + 400_000}`,
    `from=${from}&text=propeller&level=error`,
  ])
    it(`finds the same as a look at each record, what was written last first: ${text === '' ? 'everything' : text}`, async () => {
      const query = new URLSearchParams(text);
      const wanted = RECORDS.map((record, at) => ({ ...record, seq: at + 1 }))
        .filter((record, at) => fits(query, record, at))
        .toReversed()
        .map(({ seq }) => seq);
      const { entries, total } = await list(`${text}&limit=1000`);
      expect(entries.map(({ seq }) => seq)).to.deep.equal(wanted.slice(0, 1000));
      expect(total).to.equal(wanted.length);
      const next = await list(`${text}&limit=20&offset=15`);
      expect(next.entries.map(({ seq }) => seq)).to.deep.equal(wanted.slice(15, 35));
      expect((await list(`${text}&offset=100000`)).total).to.equal(wanted.length);
      const lines = await streamed('logs.export.get', text);
      const exported = (await lines.toArray()).join('').split('\n').filter(Boolean);
      expect(exported.map((line) => (JSON.parse(line) as { id: number }).id)).to.deep.equal(wanted);
    });

  it('what is stored while a stream begins is in it once', async () => {
    const late: LogRecord = {
      tsUs: START_US + 9e9,
      source: 'svc-late',
      level: 'info',
      message: 'late',
      fields: null,
    };
    const opening = streamed('logs.stream.get', 'replay=3');
    append(ROWS + 1, [late]);
    tail.push([late]);
    const stream = await opening;
    const seen = String(stream.read());
    stream.destroy();
    expect(seen.split('"logger":"svc-late"')).to.have.length(2);
    expect(seen.indexOf('"seq":')).to.be.below(seen.indexOf('svc-late'));
  });

  it('a reader that was stopped says so to those who wait, and serves again', async () => {
    const waiting = reader.ask('contents').then(
      () => 'answered',
      (error: { code?: string }) => error.code,
    );
    await reader.stop();
    expect(await waiting).to.equal('E_STORE');
    expect((await list('limit=1')).entries).to.have.length(1);
  });
});
