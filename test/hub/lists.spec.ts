import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { NODE_ORDERS } from '../../shared/fleet/node-state.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { askAgain } from '../support/ask-again.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { filledId, fillHub } from '../support/hub-nodes.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const missing = noMosquitto();
const COUNT = 2500;

interface Cell {
  readonly count: number;
  readonly online: number;
  readonly alarms: number;
  readonly attention: number;
  readonly lat: number;
  readonly lon: number;
  readonly bounds: readonly [number, number, number, number];
  readonly node: { readonly id: string; readonly phase: string; readonly fresh: boolean } | null;
}
interface Clusters {
  readonly zoom: number;
  readonly total: number;
  readonly placed: number;
  readonly cells: readonly Cell[];
}

/** 2 400 nodes in a grid over Europe, 100 on both sides of the date line; and three that are online. */
describe(`lists and maps of a large fleet at the hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let hub: TestHub;
  let last: EnrolledNode;
  const clients: MqttClient[] = [];
  before(async function () {
    if (missing !== null) return this.skip();
    hub = await TestHub.init();
    fillHub(hub.folder, COUNT, (n) =>
      n < 2400
        ? {
            name: `Kite ${(n * 7) % 300}`, // many have one name
            lat: 40 + Math.floor(n / 60) * 0.2,
            lon: (n % 60) * 0.2,
            tags: n % 10 === 0 ? ['north'] : [],
            group: n % 100 === 1 ? 'survey' : null,
          }
        : { name: `Fiji ${n}`, lat: -18, lon: n % 2 === 0 ? 179.5 : -179.5 },
    );
    await hub.serve();
    for (const [id, armed, battery] of [
      ['live-a', true, 10],
      ['live-b', false, 80],
      ['live-c', 'unknown', 50],
    ] as const) {
      const node = await hub.enroll(id);
      const client = await hub.connect(node);
      clients.push(client);
      last = node;
      const say = async (what: 'presence' | 'status', body: object) =>
        client.publishAsync(topics.told(node.enrolled.fleet, id, what), JSON.stringify(body), { qos: 1 });
      await say('presence', { online: true, session: 'a', at: 1, version: '1', profile: 'drone', name: id });
      await say('status', {
        at: 1,
        armed,
        fc_connected: true,
        fc_heartbeat_age_s: 0,
        battery_percent: battery,
        position: { lat: 10, lon: 10, heading: 90, relative_alt_m: 30, alt_m: 30 },
        nonce: 'bootboot.1',
      });
      await hub.streamed((name, { id: told, status }) => name === 'node' && told === id && status !== null);
    }
  });
  after(async () => {
    for (const client of clients) await client.endAsync(true);
    await hub?.stop();
  });

  /** What the hub answers, which is as its table says. */
  const get = async (path: string, credential?: string) => {
    const { body } = await hub.call('GET', path, credential === undefined ? {} : { credential });
    const row = hubRows.find(({ path: each, method }) => method === 'GET' && each === path.split('?')[0]);
    if (row?.answer !== null && row !== undefined)
      expect(validatorOf(row.answer)(structuredClone(body)), path).to.equal(null);
    return body;
  };
  const list = async (query: string, credential?: string) => {
    const body = await get(`/v1/nodes?${query}`, credential);
    const nodes = body['nodes'] as readonly { id: string }[];
    return { ids: nodes.map(({ id }) => id), total: body['total'], next: body['next'] as string | null };
  };
  const clusters = async (query: string, credential?: string) =>
    (await get(`/v1/nodes/clusters?${query}`, credential)) as unknown as Clusters;
  const sum = (cells: readonly Cell[], of: 'count' | 'online' | 'attention') =>
    cells.reduce((all, cell) => all + cell[of], 0);
  const operator = async (tags: readonly string[]) => {
    const { body } = await hub.call('POST', '/v1/operators', { body: { name: 'x', scopes: ['read'], tags } });
    return String(body['credential']);
  };

  for (const order of NODE_ORDERS)
    it(`pages by ${order} have every node once, in one order, whatever their length`, async () => {
      const all: string[] = [];
      let cursor = '';
      do {
        const page = await list(`order=${order}&limit=700${cursor}`);
        expect(page.total).to.equal(COUNT + 3);
        all.push(...page.ids);
        cursor = page.next === null ? '' : `&cursor=${page.next}`;
      } while (cursor !== '');
      expect(new Set(all).size).to.equal(COUNT + 3);
      expect(all.length).to.equal(COUNT + 3);
      const first = await list(`order=${order}&limit=10`);
      expect(first.ids).to.deep.equal(all.slice(0, 10));
      const next = await list(`order=${order}&limit=10&cursor=${String(first.next)}`);
      expect(next.ids).to.deep.equal(all.slice(10, 20));
      const expected = {
        id: ['live-a', 'live-b'],
        name: [filledId(2400), filledId(2401)],
        attention: ['live-c', 'live-a'],
        oldest: [filledId(0), filledId(1)],
        newest: ['live-c', 'live-b'],
        battery: null,
      }[order];
      if (expected !== null) expect(all.slice(0, 2)).to.deep.equal(expected);
    });

  it('a cursor that nobody made is some place, one that is none is refused, and a page is at most 1 000', async () => {
    for (const cursor of ['AAAA', '_', Buffer.from('x y').toString('base64url'), 'a'.repeat(2500)])
      expect((await hub.call('GET', `/v1/nodes?cursor=${cursor}`)).status, cursor).to.equal(200);
    for (const query of [
      'cursor=',
      'cursor=a%20b',
      `cursor=${'a'.repeat(2501)}`,
      'limit=1001',
      'order=size',
      'after=x',
    ])
      expect((await hub.call('GET', `/v1/nodes?${query}`)).status, query).to.equal(422);
  });

  for (const [query, count] of [
    ['q=kite%20299', 8],
    ['q=NODE-0000', 100],
    ['tag=north', 240],
    ['group=survey', 24],
    ['tag=north&group=survey', 0],
    ['tag=survey', 0], // a group is no tag
    ['state=online', 3],
    ['state=offline', COUNT],
    ['state=armed', 2],
    ['state=ground', 1],
    ['state=attention', 2],
    ['state=alarm', 0],
    ['profile=ground-station', 0],
    ['bbox=0,40,1,41', 36],
    ['bbox=179,-20,-179,-10', 100],
    ['bbox=-179,-20,179,-10', 0],
    ['bbox=-180,-90,180,90', COUNT + 3],
    ['bbox=179,-20,180,-10', 50],
    ['bbox=9,9,11,11&state=online', 3],
  ] as const)
    it(`${query}: the list, the map and their totals agree`, async () => {
      const { total, ids } = await list(`limit=1000&${query}`);
      expect(total).to.equal(count);
      expect(ids.length).to.equal(Math.min(1000, count));
      const found = await clusters(`zoom=4&${query}`);
      expect(found).to.include({ total: count, placed: count });
      expect(sum(found.cells, 'count')).to.equal(count);
    });

  for (const query of ['1,2,3', 'a,b,c,d', '1,2,3,4,5', '1e9,0,0,0', ''])
    it(`bbox=${query} is refused`, async () => {
      for (const path of ['/v1/nodes', '/v1/nodes/clusters'])
        expect((await hub.call('GET', `${path}?bbox=${query}`)).status).to.equal(422);
    });

  it('cells have their middle within their bounds, who is online and what needs somebody, and have a bound', async () => {
    for (const zoom of [0, 3, 7.4, 12, 22]) {
      const { cells, zoom: drawn } = await clusters(`zoom=${zoom}`);
      expect(cells.length).to.be.within(1, 600);
      expect(drawn).to.be.at.most(Math.round(zoom));
      for (const {
        count,
        lat,
        lon,
        bounds: [west, south, east, north],
        node,
      } of cells) {
        expect(lat).to.be.within(south - 1e-9, north + 1e-9);
        expect(lon).to.be.within(west - 1e-9, east + 1e-9);
        expect(node === null).to.equal(count > 1);
      }
      expect(sum(cells, 'count')).to.equal(COUNT + 3);
      expect([sum(cells, 'online'), sum(cells, 'attention')]).to.deep.equal([3, 2]);
    }
    const { cells } = await clusters('zoom=22&bbox=0,40,1,41');
    expect(cells.every(({ node }) => node?.phase === 'away' && !node.fresh)).to.equal(true);
    expect(cells.length).to.equal(36);
  });

  it('who has a tag or a group sees the rest in no count', async () => {
    for (const [tags, count] of [
      [['north'], 240],
      [['group:survey'], 24],
      [['north', 'group:survey'], 264],
      [['nothing'], 0],
    ] as const) {
      const credential = await operator(tags);
      expect((await list('limit=1000', credential)).total).to.equal(count);
      expect((await list('limit=1000&q=live', credential)).total).to.equal(0);
      const counted: Readonly<Record<string, number>> = { north: 240, 'group:survey': 24 };
      const found = await clusters('zoom=0', credential);
      expect([found.total, sum(found.cells, 'count'), sum(found.cells, 'online')]).to.deep.equal([
        count,
        count,
        0,
      ]);
      expect((await get('/v1/tags', credential))['tags']).to.deep.equal(
        tags.map((tag) => ({ tag, nodes: counted[tag] })).filter(({ nodes }) => nodes !== undefined),
      );
      const { nodes, phases, attention } = await get('/v1/fleet', credential);
      expect({ nodes, phases, attention }).to.deep.equal({
        nodes: count,
        phases: { flying: 0, armed: 0, ground: 0, unknown: 0, away: count },
        attention: 0,
      });
    }
    expect(await get('/v1/fleet')).to.deep.include({
      nodes: COUNT + 3,
      drones: COUNT + 3,
      online: 3,
      armed: 2,
      attention: 2,
      phases: { flying: 1, armed: 0, ground: 1, unknown: 1, away: COUNT },
      away_since: 1000 + COUNT - 1,
    });
  });

  it('the stream tells of the nodes that it is asked for, of those that one sees', async () => {
    const credential = await operator(['north']);
    const first = async (query: string, as?: string) => {
      const headers = { authorization: `Bearer ${as ?? hub.operator}` };
      const stop = new AbortController();
      const answer = await fetch(`${hub.url}/v1/nodes/stream?${query}`, { headers, signal: stop.signal });
      if (answer.status !== 200) return answer.status;
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (text.includes('event: ready')) break;
      }
      stop.abort();
      return [...text.matchAll(/^data: {"id":"([^"]+)"/gm)].map(([, id]) => id);
    };
    const wanted = `nodes=${filledId(0)},${filledId(1)},live-a,nobody`;
    expect(await first(wanted)).to.deep.equal([filledId(0), filledId(1), 'live-a']);
    expect(await first(wanted, credential)).to.deep.equal([filledId(0)]);
    expect(
      await first(`nodes=${Array.from({ length: 200 }, (_, n) => filledId(n)).join(',')}`),
    ).to.have.length(200);
    const tooMany = Array.from({ length: 201 }, (_, n) => filledId(n)).join(',');
    for (const query of [`nodes=${tooMany}`, 'nodes=', 'nodes=a,,b', 'nodes=..'])
      expect(await first(query), query.slice(0, 20)).to.equal(422);
  });

  it('what a node says in another form than agreed is no place, no state and no figure, and breaks nothing', async () => {
    for (const [mark, said] of [
      { position: { lat: 91, lon: 0 } },
      { position: { lat: 0, lon: 181 } },
      { position: { lat: '10', lon: 10 } },
      { position: { lat: null, lon: null }, battery_percent: 'full', armed: { yes: true }, mode: 7 },
      { position: [10, 10], fc_heartbeat_age_s: -1e308, battery_percent: -1e308 },
      { position: 'here', armed: [] },
      { position: null },
      {},
    ].entries()) {
      const body = JSON.stringify({ ...said, mark });
      await clients
        .at(-1)
        ?.publishAsync(topics.told(last.enrolled.fleet, last.id, 'status'), body, { qos: 1 });
      await askAgain(
        'it is there',
        async () => get(`/v1/nodes/${last.id}`),
        ({ status }) => (status as { readonly mark?: number }).mark === mark,
      );
      expect(await clusters(`zoom=9&q=${last.id}`), body).to.deep.include({ total: 1, placed: 0, cells: [] });
      for (const order of NODE_ORDERS)
        expect((await list(`q=${last.id}&order=${order}`)).ids, body).to.deep.equal([last.id]);
      expect(await get('/v1/fleet')).to.include({ nodes: COUNT + 3, online: 3 });
    }
  });
});
