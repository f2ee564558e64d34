import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { newSigningKey, verifyStatement } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import type { PublicJwk } from '../../shared/schemas/fleet-statements.ts';
import { askAgain } from '../support/ask-again.ts';
import { newJti, newSigner, type Signer, signCall } from '../support/fleet-hand.ts';
import { type EnrolledNode, type HubAnswer, TestHub } from '../support/hub.ts';
import { ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const noBroker = noMosquitto();
const SCOPES = ['read', 'safe_write', 'admin', 'destructive'];

interface Told {
  readonly event: string;
  readonly id: unknown;
}

for (const { engine, missing } of ENGINES)
  describe(`rights by tag and by group, ${engine}${noBroker === null ? '' : ` (${noBroker})`}${missing === null ? '' : ` (${missing})`}`, function () {
    this.timeout(120_000);
    let hub: TestHub;
    let signer: Signer;
    const enrolled = new Map<string, EnrolledNode>();
    const clients: MqttClient[] = [];
    /** Of the operators by what they have. */
    let north: string;
    let south: string;
    before(async function () {
      if (noBroker !== null || missing !== null) return this.skip();
      [hub, signer] = await Promise.all([TestHub.on(engine), newSigner()]);
      for (const id of ['n-1', 's-1', 'both', 'free']) enrolled.set(id, await hub.enroll(id));
      north = await operator(['north']);
      south = await operator(['group:south']);
    });
    after(async () => {
      for (const client of clients) await client.endAsync(true);
      await hub?.stop();
    });
    beforeEach(async () => {
      await tag('n-1', ['north', 'fast']);
      await tag('s-1', [], 'south');
      await tag('both', ['north'], 'south');
      await tag('free', ['south'], 'north'); // a tag is no group, and a group is no tag
    });

    async function tag(id: string, tags: readonly string[], group: string | null = null): Promise<HubAnswer> {
      const answer = await hub.call('POST', `/v1/nodes/${id}/tags`, { body: { tags, group } });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer;
    }
    async function operator(tags: readonly string[], more: object = {}, by = hub.operator): Promise<string> {
      const body = { name: 'somebody', scopes: SCOPES, tags, ...more };
      const answer = await hub.call('POST', '/v1/operators', { credential: by, body });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      return String(answer.body['credential']);
    }
    async function ids(credential: string, query = ''): Promise<readonly string[]> {
      const { body } = await hub.call('GET', `/v1/nodes${query}`, { credential });
      return (body['nodes'] as readonly { id: string }[]).map(({ id }) => id);
    }
    async function enroll(id: string, by: string, again?: string): Promise<HubAnswer> {
      const { body } = await hub.request(id, await hub.secret(by, again));
      return hub.call('POST', '/v1/enroll', { credential: null, body });
    }
    /** What an open answer tells, in its order. */
    async function follow(path: string, credential: string) {
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${credential}` };
      const answer = await fetch(`${hub.url}${path}`, { headers, signal: stop.signal });
      const told: Told[] = [];
      let isOpen = true;
      const read = async (): Promise<void> => {
        for await (const { event, data } of readEvents(Readable.fromWeb(answer.body as never)))
          told.push({ event, id: (data as { id?: unknown }).id });
      };
      const ended = read()
        .catch(() => undefined)
        .finally(() => (isOpen = false));
      return {
        status: answer.status,
        told,
        until: async (event: string, id?: string) =>
          askAgain(
            `${event} ${id ?? ''}`,
            async () => told.some((each) => each.event === event && (id === undefined || each.id === id)),
            Boolean,
          ),
        isOpen: () => isOpen,
        ended,
        stop: () => stop.abort(),
      };
    }

    it('are set by who has the whole fleet and admin, are bounded, recorded, and stay over a restart', async () => {
      expect((await tag('n-1', ['north', 'x'], 'g')).body).to.deep.include({
        tags: ['north', 'x'],
        group: 'g',
      });
      const put = async (body: object, credential = hub.operator, id = 'n-1') =>
        (await hub.call('POST', `/v1/nodes/${id}/tags`, { credential, body })).status;
      for (const tags of [
        ['North'],
        [''],
        ['a,b'],
        ['-a'],
        ['a'.repeat(33)],
        ['a', 'a'],
        ['group:x'],
        ['ä'],
        [1],
      ])
        expect(await put({ tags, group: null }), String(tags)).to.equal(422);
      expect(await put({ tags: Array.from({ length: 33 }, (_, n) => `t${n}`), group: null })).to.equal(422);
      expect(await put({ tags: [], group: 'Group' })).to.equal(422);
      expect(await put({ tags: [] })).to.equal(422);
      expect(await put({ tags: [], group: null }, hub.operator, 'nobody')).to.equal(404);
      const reader = await operator([], { scopes: ['read'], nodes: null });
      const some = await operator([], { nodes: ['n-1'] });
      for (const credential of [reader, some, north, south])
        expect(await put({ tags: ['north', 'south'], group: 'south' }, credential)).to.equal(403);
      const { body } = await hub.call('GET', '/v1/audit');
      const records = body['records'] as readonly { route: string; outcome: string; changed?: string }[];
      expect(
        records.some(
          ({ route, outcome, changed }) =>
            route === 'nodes.id.tags.post' && outcome === 'done' && changed === 'n-1: north x group g',
        ),
      ).to.equal(true);
      await hub.kill('SIGTERM');
      await hub.serve();
      expect((await hub.call('GET', '/v1/nodes/n-1')).body).to.deep.include({
        tags: ['north', 'x'],
        group: 'g',
      });
      expect(await ids(south)).to.deep.equal(['both', 's-1']);
    });

    it('show those who have them, and nobody else: list, node, figures, stream, live, events, calls, audit', async () => {
      for (const [credential, seen, hidden] of [
        [north, ['both', 'n-1'], ['s-1', 'free']],
        [south, ['both', 's-1'], ['n-1', 'free']],
      ] as const) {
        expect(await ids(credential)).to.deep.equal(seen);
        expect((await hub.call('GET', '/v1/fleet', { credential })).body).to.include({ nodes: 2 });
        const stream = await follow('/v1/nodes/stream', credential);
        await stream.until('ready');
        expect(stream.told.filter(({ event }) => event === 'node').map(({ id }) => id)).to.have.members(seen);
        stream.stop();
        const some = await follow(`/v1/nodes/stream?nodes=${[...seen, ...hidden].join(',')}`, credential);
        await some.until('ready');
        expect(some.told.filter(({ event }) => event === 'node').map(({ id }) => id)).to.have.members(seen);
        some.stop();
        expect((await hub.call('GET', '/v1/nodes/clusters', { credential })).body).to.include({ total: 2 });
        for (const query of ['q=free', `q=${hidden[0]}`, 'tag=south', 'group=north'])
          for (const path of ['/v1/nodes', '/v1/nodes/clusters'])
            expect((await hub.call('GET', `${path}?${query}`, { credential })).body).to.include({ total: 0 });
        const { body: told } = await hub.call('GET', '/v1/tags', { credential });
        const tags = (told['tags'] as readonly { tag: string }[]).map(({ tag: name }) => name);
        expect(tags).not.to.include.oneOf(['south', 'group:north']);
        for (const id of hidden)
          for (const [method, path, body] of [
            ['GET', `/v1/nodes/${id}`],
            ['DELETE', `/v1/nodes/${id}`],
            ['DELETE', `/v1/nodes/${id}/alarm`],
            ['GET', `/v1/live?nodes=${seen[0]},${id}`],
            ['POST', `/v1/nodes/${id}/calls`, { call: 'a.b.c' }],
          ] as const)
            expect((await hub.call(method, path, { credential, body })).status, `${method} ${path}`).to.equal(
              404,
            );
        for (const path of ['/v1/audit', '/v1/audit/verify'])
          expect((await hub.call('GET', path, { credential })).status).to.equal(403);
      }
    });

    it('events: those of the nodes that one has now', async () => {
      enrolled.set('gone', await hub.enroll('gone'));
      for (const id of ['n-1', 's-1', 'gone']) {
        const node = enrolled.get(id);
        if (node === undefined) throw new Error(id);
        const client = await hub.connect(node);
        clients.push(client);
        const event = { stream: 's', seq: 1, at: 1, kind: 'node.started', detail: {} };
        await client.publishAsync(topics.told(node.enrolled.fleet, id, 'event'), JSON.stringify(event), {
          qos: 1,
        });
      }
      const events = async (credential: string, query = '') => {
        const { body } = await hub.call('GET', `/v1/events${query}`, { credential });
        return (body['events'] as readonly { node: string }[]).map(({ node }) => node);
      };
      await askAgain(
        'all are stored',
        async () => events(hub.operator),
        ({ length }) => length === 3,
      );
      for (const query of ['', '?after=0']) {
        expect(await events(north, query)).to.deep.equal(['n-1']);
        expect(await events(south, query)).to.deep.equal(['s-1']);
      }
      expect(await events(north, '?node=s-1')).to.deep.equal([]);
      // What happened to a node that was removed is seen by its name; its tag is gone with it.
      await tag('gone', ['north']);
      expect(await events(north)).to.have.members(['n-1', 'gone']);
      await hub.call('DELETE', '/v1/nodes/gone');
      expect(await events(north)).to.deep.equal(['n-1']);
      const byName = await operator([], { nodes: ['gone'] });
      const byBoth = await operator(['group:south'], { nodes: ['gone'] });
      expect(await events(byName)).to.deep.equal(['gone']);
      expect(await events(byBoth)).to.have.members(['s-1', 'gone']);
      expect(await ids(byBoth)).to.deep.equal(['both', 's-1']);
      const stream = await follow('/v1/nodes/stream', byBoth);
      await stream.until('ready');
      expect(stream.told.map(({ event, id }) => `${event} ${String(id)}`)).to.have.members([
        'node both',
        'node s-1',
        'ready undefined',
      ]);
      stream.stop();
      await tag('s-1', ['north'], 'south');
      expect(await events(north)).to.have.members(['n-1', 's-1']);
      await tag('n-1', []);
      expect(await events(north)).to.deep.equal(['s-1']);
    });

    it('a tag that is given or taken counts at once, in what is open too, and the node stays as it was', async () => {
      const stream = await follow('/v1/nodes/stream', north);
      await stream.until('ready');
      const live = await follow('/v1/live?nodes=n-1', north);
      expect(live.status).to.equal(200);
      await tag('free', ['north']);
      await stream.until('node', 'free');
      await tag('n-1', ['fast']);
      await stream.until('removed', 'n-1');
      await live.ended;
      expect((await hub.call('GET', '/v1/nodes/n-1', { credential: north })).status).to.equal(404);
      expect((await hub.call('GET', '/v1/live?nodes=n-1', { credential: north })).status).to.equal(404);
      // It hears nothing more of it, not even that it is gone.
      const { length } = stream.told;
      await tag('n-1', ['faster']);
      await tag('s-1', ['north']);
      await stream.until('node', 's-1');
      expect(stream.told.slice(length).some(({ id }) => id === 'n-1')).to.equal(false);
      expect(stream.isOpen()).to.equal(true);
      await tag('n-1', ['north']);
      await askAgain(
        'it is back',
        async () => stream.told.at(-1),
        (last) => last?.id === 'n-1' && last.event === 'node',
      );
      stream.stop();
    });

    it('a tag does not make a node look away: what it told is still there', async () => {
      const node = enrolled.get('both');
      if (node === undefined) throw new Error('both');
      const client = await hub.connect(node);
      clients.push(client);
      const presence = { online: true, session: 'a', at: 1, version: '1', profile: 'drone', name: 'Both' };
      await client.publishAsync(
        topics.told(node.enrolled.fleet, 'both', 'presence'),
        JSON.stringify(presence),
        {
          qos: 1,
          retain: true,
        },
      );
      await hub.streamed(
        (name, { id, online }) => name === 'node' && id === 'both' && online === true,
        north,
      );
      expect((await tag('both', ['north', 'new'])).body).to.include({ online: true, name: 'Both' });
    });

    it('nobody gives tags that they do not have, nor a node that they have by a tag, nor sees who is wider', async () => {
      for (const [body, status] of [
        [{ tags: ['north'] }, 201],
        [{ tags: ['north'], nodes: null }, 201], // with tags no nodes are no nodes of its own
        [{ tags: ['north'], nodes: [] }, 201],
        [{ tags: ['north', 'south'] }, 403],
        [{ tags: ['group:north'] }, 403],
        [{ tags: ['north'], nodes: ['n-1'] }, 403], // which may lose its tag
        [{ nodes: ['n-1'] }, 403],
        [{ tags: [] }, 403],
        [{ nodes: null }, 403],
        [{}, 403],
        [{ tags: ['north'], scopes: ['flight'] }, 403],
        [{ tags: ['GROUP:x'] }, 422],
        [{ tags: ['group:'] }, 422],
        [{ tags: 'north' }, 422],
      ] as const)
        for (const [kind, name] of [
          ['operators', 'name'],
          ['credentials', 'label'],
        ] as const) {
          const answer = await hub.call('POST', `/v1/${kind}`, {
            credential: north,
            body: { [name]: 'x', scopes: ['read'], ...body },
          });
          expect(answer.status, `${kind} ${JSON.stringify(body)}`).to.equal(status);
        }
      const { body: own } = await hub.call('GET', '/v1/operators', { credential: north });
      const tags = (own['operators'] as readonly { tags: readonly string[] }[]).map((each) =>
        each.tags.join(),
      );
      expect(new Set(tags)).to.deep.equal(new Set(['north']));
      const all = (await hub.call('GET', '/v1/operators')).body['operators'] as readonly {
        id: string;
        tags: readonly string[];
      }[];
      const other = all.find((each) => each.tags.includes('group:south'))?.id ?? '';
      expect((await hub.call('DELETE', `/v1/operators/${other}`, { credential: north })).status).to.equal(
        404,
      );
      expect((await hub.call('GET', '/v1/me', { credential: north })).body).to.deep.include({
        nodes: [],
        tags: ['north'],
      });
      // By list and by tag at once.
      const mixed = await operator(['group:south'], { nodes: ['n-1'] });
      expect(await ids(mixed)).to.deep.equal(['both', 'n-1', 's-1']);
      const narrower = await operator([], { nodes: ['n-1'] }, mixed);
      expect(await ids(narrower)).to.deep.equal(['n-1']);
    });

    it('an enrolment code by a tag makes a new node with that tag alone, and takes over none of others', async () => {
      expect((await enroll('new-north', north)).status).to.equal(201);
      expect((await hub.call('GET', '/v1/nodes/new-north')).body).to.deep.include({
        tags: ['north'],
        group: null,
      });
      expect((await enroll('new-south', south)).status).to.equal(201);
      expect((await hub.call('GET', '/v1/nodes/new-south')).body).to.deep.include({
        tags: [],
        group: 'south',
      });
      expect((await enroll('s-1', north)).body).to.include({ code: 'E_CODE' });
      expect((await enroll('free', north)).body).to.include({ code: 'E_CODE' });
      // Enrolled anew it keeps what it has, whoever made the code.
      await tag('new-north', ['north', 'fast'], 'survey');
      for (const by of [north, hub.operator]) {
        expect((await enroll('new-north', by)).body).to.include({ code: 'E_CODE' });
        expect((await enroll('new-north', by, 'new-north')).status).to.equal(201);
        expect((await hub.call('GET', '/v1/nodes/new-north')).body).to.deep.include({
          tags: ['north', 'fast'],
          group: 'survey',
        });
      }
      const late = await hub.request('new-north', await hub.secret(north, 'new-north'));
      await tag('new-north', []);
      const asked = { credential: null, body: late.body };
      expect((await hub.call('POST', '/v1/enroll', asked)).body).to.include({ code: 'E_CODE' });
      const lost = await hub.call('POST', '/v1/codes?node=new-north', { credential: north });
      expect(lost.status).to.equal(404);
      // Removed it loses them, and its events are nobody's who only has a tag.
      await hub.call('DELETE', '/v1/nodes/new-north');
      expect((await enroll('new-north', north)).body).to.include({ code: 'E_CODE' });
      expect((await enroll('new-north', hub.operator)).status).to.equal(201);
      expect((await hub.call('GET', '/v1/nodes/new-north')).body).to.deep.include({ tags: [], group: null });
      for (const id of ['stream', 'clusters']) expect((await enroll(id, hub.operator)).status).to.equal(422);
    });

    it('what nodes check names the nodes of now, for a quarter of an hour at most', async () => {
      const { body } = await hub.call('POST', '/v1/credentials', {
        body: { label: 'laptop', scopes: ['read'], tags: ['north'] },
      });
      const { body: session } = await hub.session(String(body['credential']), newSigningKey());
      const claims = async (token: unknown) =>
        (await verifyStatement('svc-machine-token', String(token), hubKey)).payload;
      const machine = await claims(session['token']);
      expect(machine.nodes).to.deep.equal(['both', 'n-1']);
      expect(machine.exp - machine.iat).to.equal(15 * 60);
      const person = async (nodes?: readonly string[]) => {
        const asked = { key: signer.jwk, ...(nodes === undefined ? {} : { nodes }) };
        const answer = await hub.call('POST', '/v1/me/token', { credential: north, body: asked });
        expect(answer.status).to.equal(200);
        return claims(answer.body['token']);
      };
      expect((await person()).nodes).to.deep.equal(['both', 'n-1']);
      expect((await person(['n-1', 's-1', 'nobody'])).nodes).to.deep.equal(['n-1']);
      expect((await person([])).nodes).to.deep.equal([]);
      await tag('n-1', []);
      expect((await person()).nodes).to.deep.equal(['both']);
      expect((await person(['n-1'])).nodes).to.deep.equal([]);
      // The hub carries no call there any more, whatever the token says.
      const call = await signCall(
        { signer, token: String(session['token']) },
        { method: 'GET', path: '/api/status', node: 'n-1', nonce: 'bootboot.1', jti: newJti() },
      );
      const carried = await hub.call('POST', '/v1/nodes/n-1/calls', { credential: north, body: { call } });
      expect(carried.status).to.equal(404);
    });

    function hubKey(): PublicJwk {
      const policy = enrolled.get('n-1')?.enrolled.policy.split('.')[1] ?? '';
      const { keys } = JSON.parse(Buffer.from(policy, 'base64url').toString()) as {
        keys: readonly [PublicJwk];
      };
      return keys[0];
    }
  });
