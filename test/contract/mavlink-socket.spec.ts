import { once } from 'node:events';
import { expect } from 'chai';
import { common, MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import { WebSocket } from 'ws';
import { encodeAs } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const HEARTBEAT = 0;
const ATTITUDE = 30;

/** A client of the WebSocket, which expects one whole frame in each message. */
class Client {
  readonly socket: WebSocket;
  readonly ids: number[] = [];
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | null = null;
  #wake: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const length = (data[1] ?? 0) + 12;
      expect(data.length, 'one frame a message').to.equal(length);
      const id = (data[7] ?? 0) | ((data[8] ?? 0) << 8) | ((data[9] ?? 0) << 16);
      this.ids.push(id);
      if (id === 253 && data[6] === 191) this.texts.push(data.toString('latin1', 11, data.length - 2));
      for (const wake of this.#wake.splice(0)) wake();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  static async open(node: TestNode, query: string, headers: Record<string, string>): Promise<Client> {
    const url = `${node.url.replace('http', 'ws')}/api/mavlink/ws${query}`;
    const socket = new WebSocket(url, { headers });
    const client = new Client(socket);
    await once(socket, 'open');
    return client;
  }

  async until(fits: () => boolean): Promise<void> {
    while (!fits()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }
}

async function statusOf(node: TestNode, query: string, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/mavlink/ws${query}`, { headers });
  socket.on('error', () => undefined); // a refused handshake
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  return response.statusCode;
}

function paramSet(value: number): Buffer {
  const message = new common.ParamSet();
  const fields = { targetSystem: 1, targetComponent: 1, paramId: 'RTL_ALT', paramValue: value, paramType: 9 };
  return encodeAs(Object.assign(message, fields), 'v2', value & 0xff, 255, 190);
}

describe('the MAVLink WebSocket', () => {
  let node: TestNode;
  const key = { 'x-svc-key': KEY };
  let read = '';
  let flight = '';
  const clients: Client[] = [];

  const open = async (query = '', headers: Record<string, string> = key): Promise<Client> => {
    const client = await Client.open(node, query, headers);
    clients.push(client);
    return client;
  };
  const rtlAltitude = async (): Promise<unknown> =>
    (await node.json('/api/params/RTL_ALT', { headers: key })).body['value'];
  const counters = async (name: string): Promise<Record<string, unknown> | undefined> => {
    const { body } = await node.json('/api/v1/diagnostics', { headers: key });
    const { endpoints } = body['mavlink'] as { endpoints: { peers: Record<string, unknown>[] }[] };
    return endpoints.flatMap(({ peers }) => peers).find((peer) => peer['name'] === name);
  };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, config: 'mcp:\n  token_accept_enabled: true\n' });
    const mint = async (...scopes: string[]): Promise<string> =>
      String((await node.post('/api/mcp/tokens', { scopes }, key)).body['token']);
    read = await mint('read');
    flight = await mint('read', 'flight');
    await linkState(node, ({ params }) => !params.priming && params.cached > 0);
  });

  afterEach(() => {
    for (const { socket } of clients.splice(0)) socket.terminate();
  });

  after(async () => node.stop());

  it('gives one frame in each binary message, which another decoder reads', async () => {
    const client = await open();
    const splitter = new MavLinkPacketSplitter();
    const names: number[] = [];
    splitter.pipe(new MavLinkPacketParser()).on('data', ({ header }) => names.push(header.msgid));
    client.socket.on('message', (data: Buffer) => splitter.write(data));
    await client.until(() => client.ids.includes(HEARTBEAT) && client.ids.includes(ATTITUDE));
    expect(names).to.include(ATTITUDE);
  });

  it('carries frames to the vehicle for the key and a token with the scopes of what they do', async () => {
    const { body } = await node.post('/api/mcp/tokens', { scopes: ['read', 'flight', 'admin'] }, key);
    for (const [value, headers] of [
      [1500, key],
      [1700, { 'x-svc-mcp-token': String(body['token']) }],
    ] as const) {
      const client = await open('', headers);
      client.socket.send(paramSet(value));
      await client.until(() => client.ids.includes(22));
      expect(await rtlAltitude()).to.equal(value);
    }
  });

  it('a token of the preset fly writes no parameter by a frame either, and is told', async () => {
    const before = await rtlAltitude();
    const client = await open('', { 'x-svc-mcp-token': flight });
    client.socket.send(paramSet(1900));
    await client.until(() => client.texts.length > 0);
    expect(client.texts[0]).to.include('PARAM_SET: the token lacks a scope');
    expect(await rtlAltitude()).to.equal(before);
  });

  it('F6 a read token only listens: what it sends is dropped and counted', async () => {
    const before = await rtlAltitude();
    const client = await open('', { 'x-svc-mcp-token': read });
    client.socket.send(paramSet(2000));
    const { body } = await node.json('/api/mcp/status', { headers: key });
    const first = (body['tokens'] as { token_id: string }[]).at(-1);
    const id = first?.token_id ?? '';
    while ((await counters(id))?.['rx_refused'] !== 1);
    expect(await rtlAltitude()).to.equal(before);
    await client.until(() => client.ids.length > 5);
  });

  it('forcing needs destructive, before there is a socket', async () => {
    expect(await statusOf(node, '?force=1', { 'x-svc-mcp-token': flight })).to.equal(403);
    const client = await open('?force=1');
    await client.until(() => client.ids.length > 0);
  });

  it('filters by name and number, with an upper rate each', async () => {
    const client = await open('?msgs=HEARTBEAT,30@2');
    await client.until(() => client.ids.filter((id) => id === HEARTBEAT).length >= 3);
    expect([...new Set(client.ids)]).to.have.members([HEARTBEAT, ATTITUDE]);
    const attitudes = client.ids.filter((id) => id === ATTITUDE).length;
    expect(attitudes).to.be.within(1, 12); // 2 Hz over 2 to 4 heartbeats; unfiltered it would be 20 and more
  });

  it('what is wrong with the query is said: 422 for its form, a close with words for an unknown name', async () => {
    expect(await statusOf(node, '?msgs=attitude', key)).to.equal(422);
    expect(await statusOf(node, '?msgs=A&msgs=B', key)).to.equal(422);
    expect(await statusOf(node, '?other=1', key)).to.equal(422);
    const client = await open('?msgs=NO_SUCH_MESSAGE');
    await client.until(() => client.closed !== null);
    expect(client.closed).to.deep.equal({ code: 1008, reason: 'msgs: no message is called NO_SUCH_MESSAGE' });
  });

  it('text is no frame', async () => {
    const client = await open();
    client.socket.send('hello');
    await client.until(() => client.closed !== null);
    expect(client.closed?.code).to.equal(1003);
  });

  it('ends with 1013 when svc-link does, and can be opened again', async () => {
    const client = await open();
    await client.until(() => client.ids.length > 0);
    await node.killAndAwaitSuccessor('svc-link');
    await client.until(() => client.closed !== null);
    expect(client.closed?.code).to.equal(1013);
    const again = await open();
    await again.until(() => again.ids.length > 0);
  });

  it('F7 while armed a socket opened without force=1 writes no parameter, and is told', async () => {
    await armable(node, key);
    expect((await node.post('/api/command', { cmd: 'arm' }, key)).body['status']).to.equal('accepted');
    const guarded = await open();
    guarded.socket.send(paramSet(2100));
    await guarded.until(() => guarded.texts.length > 0);
    expect(guarded.texts[0]).to.include('PARAM_SET refused while armed');
    // Not compared with the value before: svc-link has just started anew, and its copy may still be catching up.
    expect(await rtlAltitude()).to.not.equal(2100);
    const forced = await open('?force=1');
    forced.socket.send(paramSet(2200));
    await forced.until(() => forced.ids.includes(22));
    expect(await rtlAltitude()).to.equal(2200);
  });

  it('while armed no config key does what a guarded row refuses, without force', async () => {
    const put = async (body: object) =>
      node.json('/api/config', {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...key },
        body: JSON.stringify(body),
      });
    for (const [name, value] of [
      ['agent.role', 'relay'],
      ['radio.channel', 36],
      ['radio.mcs', 2],
      ['radio.mode', 'external'],
      ['mavlink.source', 'udp:0.0.0.0:14999'],
      ['features.flight', false],
      ['fleet.scopes', []],
    ] as const) {
      const { status, body } = await put({ key: name, value });
      expect([status, body['code']], name).to.deep.equal([409, 'E_ARMED']);
    }
    expect((await put({ key: 'agent.name', value: 'kite' })).status).to.equal(200);
    expect((await put({ key: 'radio.mcs', value: 2, force: true })).status).to.equal(200);
  });
});
