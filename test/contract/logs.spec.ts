import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { METRICS } from '../../shared/metrics.ts';
import { KEY } from '../support/edge.ts';
import { armable, logged } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const key = { 'x-svc-key': KEY };

interface Entry {
  readonly seq: number;
  readonly timestamp: string;
  readonly level: string;
  readonly logger: string;
  readonly message: string;
  readonly fields: Record<string, unknown> | null;
}

/** A shipper of the test's own, which speaks the ingest protocol by hand. */
class Shipper {
  readonly #socket: Socket;
  #ack = -1;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const text of chunk.toString().trim().split('\n'))
        this.#ack = (JSON.parse(text) as { ack: number }).ack;
      for (const wake of this.#wake.splice(0)) wake();
    });
    socket.on('error', () => undefined); // the store cuts off what breaks the protocol
  }

  static async open(node: TestNode, id: string): Promise<Shipper> {
    const socket = connect(node.paths.logSocket);
    await once(socket, 'connect');
    socket.write(`${JSON.stringify({ shipper: id })}\n`);
    const shipper = new Shipper(socket);
    await shipper.acknowledged(0);
    return shipper;
  }

  get ack(): number {
    return this.#ack;
  }

  send(seq: number, text: string): void {
    this.#socket.write(`${seq} ${text}\n`);
  }

  async acknowledged(seq: number): Promise<void> {
    while (this.#ack < seq) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async closed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  close(): void {
    this.#socket.destroy();
  }
}

function line(level: string, msg: string, service = 'svc-test', more: object = {}): string {
  return JSON.stringify({ time: new Date().toISOString(), level, service, msg, ...more });
}

describe('logs', () => {
  let node: TestNode;
  const get = async (path: string): ReturnType<TestNode['json']> => node.json(path, { headers: key });
  const entries = async (query: string): Promise<readonly Entry[]> => {
    const { status, body } = await get(`/api/logs?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body['entries'] as readonly Entry[];
  };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
  });

  after(async () => node.stop());

  it('what the processes wrote is there, with source, level, time and fields', async () => {
    await logged(node, 'svc-control', 'listening', key);
    const found = await entries('service=svc-control&text=listening');
    expect(found[0]).to.include({ level: 'INFO', logger: 'svc-control' });
    expect(found[0]?.message).to.include('listening on port');
    expect(found[0]?.fields).to.include({ port: node.port });
    expect((await logged(node, 'svc-link', 'learned', key))['logger']).to.equal('svc-link');
  });

  it('records are acknowledged once they are on disk, and one that is sent again is not stored twice', async () => {
    const first = await Shipper.open(node, 'again');
    for (let seq = 1; seq <= 50; seq++) first.send(seq, line('warn', `again number ${seq}`, 'svc-again'));
    await first.acknowledged(50);
    first.close();
    const second = await Shipper.open(node, 'again');
    expect(second.ack).to.equal(50);
    for (let seq = 41; seq <= 60; seq++) second.send(seq, line('warn', `again number ${seq}`, 'svc-again'));
    await second.acknowledged(60);
    second.close();
    const { body } = await get('/api/logs?service=svc-again&limit=1000');
    expect(body['total']).to.equal(60);
  });

  it('filters: level and above, service, words, time, page by page', async () => {
    const shipper = await Shipper.open(node, 'filters');
    const levels = ['debug', 'info', 'warn', 'error'];
    for (let seq = 1; seq <= 40; seq++)
      shipper.send(
        seq,
        line(levels[seq % 4] ?? 'info', `propeller ${seq} "quoted' OR x*`, 'svc-filter', { seq }),
      );
    shipper.send(41, 'a print that is no JSON');
    shipper.send(42, '{"level":"fatal","msg":{"not":"text"}}');
    await shipper.acknowledged(42);
    shipper.close();
    expect(await entries('service=svc-filter&level=warn&limit=100')).to.have.length(20);
    expect(await entries('text=propeller%2017')).to.have.length(1);
    // What a person types is words, not operators.
    for (const text of ['"quoted\'', 'OR', 'x*', 'NEAR(', '(((', '-', '"'])
      expect((await get(`/api/logs?text=${encodeURIComponent(text)}`)).status, text).to.equal(200);
    expect(await entries('service=svc-filter,svc-none&limit=3&offset=38')).to.have.length(2);
    expect(await entries('service=svc-filter&to=-1h')).to.deep.equal([]);
    const [print] = await entries('text=a%20print%20that&limit=1');
    expect(print).to.include({ level: 'WARN', logger: 'unknown' });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await get(`/api/observability/query?source=svc-filter&limit=7${cursor}`);
      seen.push(...(body['data'] as { fields: { seq: number } }[]).map(({ fields }) => fields.seq));
      const next = (body['page'] as { next_cursor: string | null }).next_cursor;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(seen).to.have.length(40);
    expect(new Set(seen).size).to.equal(40);
  });

  it('a cursor holds under its own conditions only; a window that ends before it begins holds nothing', async () => {
    const { body } = await get('/api/observability/query?limit=1');
    const cursor = (body['page'] as { next_cursor: string }).next_cursor;
    for (const wrong of [`limit=1&level=warn&cursor=${cursor}`, 'cursor=AAAA'])
      expect((await get(`/api/observability/query?${wrong}`)).body).to.include({ code: 'E_NOT_FOUND' });
    expect((await get('/api/logs?from=-1m&to=-1h')).body).to.deep.include({ entries: [], total: 0 });
  });

  it('warning is another word for warn', async () => {
    const levels = async (level: string) =>
      ((await get(`/api/logs?level=${level}&limit=1000`)).body['entries'] as { level: string }[]).map(
        (e) => e.level,
      );
    expect(new Set(await levels('warning'))).to.not.include('INFO');
    expect(await levels('warning')).to.deep.equal(await levels('warn'));
  });

  it('what is wrong is named, with 422', async () => {
    for (const path of [
      '/api/logs?level=loud',
      '/api/logs?limit=0',
      '/api/logs?limit=1001',
      '/api/logs?since=yesterday',
      '/api/logs?nothing=1',
      '/api/logs?level=info&level=warn',
      '/api/observability/aggregate',
      '/api/observability/aggregate?metric=a&agg=p42',
      '/api/observability/sessions?kind=manual',
    ]) {
      const answer = await get(path);
      expect([answer.status, answer.body['code']], path).to.deep.equal([422, 'E_INVALID_VALUE']);
    }
  });

  it('a metric that nobody writes is refused with those that are known', async () => {
    for (const metric of ['cpu.percent', 'battery.voltage,cpu.percent']) {
      const { status, body } = await get(`/api/observability/aggregate?metric=${metric}`);
      expect([metric, status, body['code']]).to.deep.equal([metric, 422, 'E_INVALID_VALUE']);
      for (const known of METRICS) expect(body['detail']).to.include(known);
      expect(body['detail']).to.match(/^metric is one of battery\.voltage, /);
    }
    for (const metric of METRICS)
      expect((await get(`/api/observability/aggregate?metric=${metric}`)).status, metric).to.equal(200);
  });

  it('a shipper that breaks the protocol is cut off, and nobody else', async () => {
    const bad = await Shipper.open(node, 'bad');
    bad.send(1, 'fine');
    await bad.acknowledged(1);
    const good = await Shipper.open(node, 'good');
    bad.send(Number.NaN, 'no number');
    await bad.closed();
    good.send(1, line('warn', 'still here'));
    await good.acknowledged(1);
    good.close();
  });

  it('the stream replays and follows', async () => {
    const response = await node.fetch('/api/logs/stream?service=svc-stream&replay=5', { headers: key });
    expect(response.headers.get('content-type')).to.include('text/event-stream');
    const reader = response.body?.getReader();
    const shipper = await Shipper.open(node, 'stream');
    shipper.send(1, line('info', 'into the stream', 'svc-stream'));
    shipper.send(2, line('info', 'elsewhere', 'svc-other'));
    shipper.send(3, line('error', 'and again', 'svc-stream'));
    let text = '';
    while (!text.includes('and again')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).to.include('into the stream').and.to.not.include('elsewhere');
    await reader?.cancel();
    shipper.close();
  });

  it('export: every record a line', async () => {
    const { text: all } = await node.request('/api/logs/export?source=svc-filter', { headers: key });
    const lines = all.trim().split('\n');
    expect(lines).to.have.length(40);
    for (const text of lines) expect(JSON.parse(text)).to.include({ source: 'svc-filter' });
  });

  it('metrics once a second, aggregates, a flight from arming to disarming, events', async () => {
    const metrics = async (): Promise<readonly unknown[]> =>
      (await get('/api/observability/query?kind=metrics&metric=battery.voltage')).body['data'] as unknown[];
    while ((await metrics()).length < 2);
    const { body } = await get(
      '/api/observability/aggregate?metric=battery.voltage&bucket=1m&agg=max&since=-5m',
    );
    const [bucket] = body['data'] as { [figure: string]: number }[];
    expect(Number(bucket?.['bucket_us']) % 60e6).to.equal(0);
    expect(bucket?.['value']).to.be.within(9, 14);
    expect(bucket?.['max']).to.equal(bucket?.['value']);
    expect(bucket?.['mean']).to.be.within(bucket?.['min'] ?? 14, bucket?.['max'] ?? 9);
    await armable(node, key);
    expect((await node.post('/api/command', { cmd: 'arm' }, key)).body['status']).to.equal('accepted');
    const flights = async (query = ''): Promise<readonly Record<string, unknown>[]> =>
      (await get(`/api/observability/sessions?kind=flight${query}`)).body['data'] as Record<
        string,
        unknown
      >[];
    while ((await flights('&open=1')).length === 0);
    expect((await flights())[0]).to.deep.include({
      number: 1,
      ended_us: null,
      meta: { simulated: true, firmware: 'ardupilot' },
    });
    const before = (await flights()).length;
    await node.killAndAwaitSuccessor('svc-residual');
    expect((await get('/api/logs?limit=1')).status).to.equal(200);
    expect(await flights('&open=1')).to.have.length(1);
    const tlogs = async (): Promise<readonly unknown[]> =>
      ((await flights())[0] as { files: { tlogs: readonly unknown[] } }).files.tlogs;
    while ((await tlogs()).length === 0);
    await node.post('/api/command', { cmd: 'disarm' }, key);
    while ((await flights('&open=1')).length > 0);
    const { tlogs: kept } = (await get('/api/tlogs')).body as { tlogs: { name: string }[] };
    expect(await tlogs(), 'its telemetry log').to.deep.equal(kept.map(({ name }) => name));
    expect(await flights()).to.have.length(before);
    expect((await flights())[0]?.['span_us']).to.be.greaterThan(0);
    const { body: events } = await get('/api/observability/query?kind=events&event_kind=armed,disarmed');
    expect((events['data'] as { kind: string }[]).map(({ kind }) => kind)).to.deep.equal([
      'disarmed',
      'armed',
    ]);
  });

  it('the audit can be asked about', async () => {
    expect((await node.json('/api/config')).status).to.equal(401);
    await logged(node, 'audit', 'E_UNAUTHENTICATED', key);
    const refused = await entries('service=audit&text=E_UNAUTHENTICATED');
    expect(refused[0]?.fields).to.include({ outcome: 'E_UNAUTHENTICATED', principal_kind: 'anonymous' });
  });

  it('a killed residual: the boot session goes on, nothing is stored twice, and what was written meanwhile comes', async () => {
    const boots = async (): Promise<readonly unknown[]> =>
      (await get('/api/observability/sessions?kind=boot')).body['data'] as unknown[];
    const before = (await boots()).length;
    await node.killAndAwaitSuccessor('svc-residual');
    expect((await get('/api/logs?limit=1')).status).to.equal(200);
    expect(await boots()).to.have.length(before);
    while ((await entries('service=svc-supervisor&text=svc-residual%20running')).length < 2);
    const all = await entries('service=svc-control&text=listening&limit=100');
    expect(all).to.have.length(1);
  });

  it('stats, and an OpenAPI document of the log routes alone', async () => {
    const { body } = await get('/api/logs/stats');
    expect((body['rows'] as { logs: number }).logs).to.be.greaterThan(100);
    const { body: api } = await get('/api/logs/openapi.json');
    expect(Object.keys(api['paths'] as object)).to.have.length(8);
  });
});
