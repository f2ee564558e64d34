import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { verifyStatement } from '../../shared/fleet/signed.ts';
import type { Presence } from '../../shared/fleet/told.ts';
import { type NodeTopic, topics } from '../../shared/fleet/topics.ts';
import type { PublicJwk } from '../../shared/schemas/fleet-statements.ts';
import { askAgain } from '../support/ask-again.ts';
import { type EnrolledNode, heard, TestHub } from '../support/hub.ts';
import { ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const noBroker = noMosquitto();

function say(client: MqttClient, { enrolled, id }: EnrolledNode, what: NodeTopic, body: unknown) {
  const retain = what === 'presence' || what === 'status';
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  return client.publishAsync(topics.told(enrolled.fleet, id, what), payload, { qos: 1, retain });
}

function presence(session: string, online = true, name = 'Kestrel'): Presence {
  return { online, session, at: 1, version: '0.2.0', profile: 'drone', name };
}

const event = (seq: number, stream = 's1') => ({
  stream,
  seq,
  at: 1000 + seq,
  kind: 'vehicle.armed',
  detail: { n: seq },
});

/** The JSON of a statement, before it is verified. */
function payloadOf(jws: string): string {
  return Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString();
}

function hubKey({ enrolled }: EnrolledNode): PublicJwk {
  const { keys } = JSON.parse(payloadOf(enrolled.policy)) as { readonly keys: readonly [PublicJwk] };
  return keys[0];
}

for (const { engine, missing } of ENGINES)
  describe(`the fleet at the hub, ${engine}${noBroker === null ? '' : ` (${noBroker})`}${missing === null ? '' : ` (${missing})`}`, () => {
    let hub: TestHub;
    before(async function () {
      if (noBroker !== null || missing !== null) return this.skip();
      hub = await TestHub.on(engine);
    });
    after(async () => hub?.stop());

    /** Resolves when the hub has acknowledged up to this number, under its signature. */
    async function acknowledged(client: MqttClient, node: EnrolledNode, seq: number, stream = 's1') {
      const jws = await heard(client, topics.ack(node.enrolled.fleet, node.id), (text) => {
        const said = JSON.parse(payloadOf(text)) as object;
        return 'seq' in said && said.seq === seq;
      });
      const { payload } = await verifyStatement('svc-ack', jws, () => hubKey(node));
      expect(payload).to.deep.equal({ node: node.id, stream, seq });
    }

    /** What the hub shows of it to who looks: its telemetry is heard from the first look on. */
    const looked = async (client: MqttClient, node: EnrolledNode, said: object): Promise<unknown> =>
      askAgain(
        'telemetry',
        async () => {
          await say(client, node, 'telemetry', said);
          return (await hub.call('GET', `/v1/nodes/${node.id}`)).body['telemetry'];
        },
        (telemetry) => telemetry !== null,
      );

    const stored = async (id: string) =>
      (await hub.call('GET', `/v1/events?node=${id}&after=0`)).body['events'] as readonly {
        readonly seq: number;
      }[];

    it('a node that speaks is there again, whose presence the hub has missed', async () => {
      const node = await hub.enroll('missed');
      const client = await hub.connect(node);
      const isOnline = async () => (await hub.call('GET', '/v1/nodes/missed')).body['online'];
      await say(client, node, 'presence', presence('a'));
      await askAgain('it is there', isOnline, (online) => online === true);
      // What the broker keeps says something else, which the hub has not heard.
      const gone = JSON.stringify(presence('a', false));
      await client.publishAsync(topics.told(node.enrolled.fleet, 'missed', 'presence'), gone, { qos: 1 });
      await askAgain('it is away', isOnline, (online) => online === false);
      for (let told = 0; told < 2; told++) await say(client, node, 'status', { at: told, nonce: 'a.1' });
      await askAgain('it is there again', isOnline, (online) => online === true);
      await client.endAsync();
    });

    it('presence, status and telemetry of a node are in the list, and its will', async () => {
      const node = await hub.enroll('shown');
      const client = await hub.connect(node);
      await say(client, node, 'presence', presence('a', true, 'Harrier'));
      await say(client, node, 'status', { armed: 'disarmed', mode: 'LOITER', nonce: 'bootboot.1' });
      const entry = await hub.streamed(
        (name, { id, status }) => name === 'node' && id === 'shown' && status !== null,
      );
      expect(entry).to.deep.include({ online: true, name: 'Harrier', version: '0.2.0', alarm: null });
      expect(entry).not.to.have.property('telemetry');
      await say(client, node, 'presence', presence('a', false, 'Harrier'));
      const gone = await hub.streamed(
        (name, { id, online }) => name === 'node' && id === 'shown' && online === false,
      );
      expect(gone['status']).to.deep.include({ mode: 'LOITER' });
      expect(await looked(client, node, { position: { lat: 1, lon: 2 } })).to.deep.equal({
        position: { lat: 1, lon: 2 },
      });
      await client.endAsync();
    });

    it("a name that turns the text around, has what cannot be seen, or is another's, is shown otherwise", async () => {
      const first = await hub.enroll('first');
      const firstClient = await hub.connect(first);
      await say(firstClient, first, 'presence', presence('f', true, 'Merlin'));
      await hub.streamed((event_, { id, name }) => event_ === 'node' && id === 'first' && name === 'Merlin');
      const node = await hub.enroll('turned');
      const client = await hub.connect(node);
      for (const [name, shown] of [
        ['Kes\u202etrel\u200b', 'Kes trel'],
        ['\u200b', 'turned'],
        // Those of others: by name, in other letters, and by id.
        ['Merlin', 'Merlin (turned)'],
        ['ＭERLIN\u200b', 'ＭERLIN (turned)'],
        ['first', 'first (turned)'],
        ['Merlin 2', 'Merlin 2'],
      ] as const) {
        await say(client, node, 'presence', { ...presence('a'), name });
        await hub.streamed(
          (event_, { id, name: now }) => event_ === 'node' && id === 'turned' && now === shown,
        );
      }
      // Who had the name keeps it, also after it has gone and come.
      await say(firstClient, first, 'presence', presence('g', true, 'Merlin'));
      expect((await hub.call('GET', '/v1/nodes/first')).body['name']).to.equal('Merlin');
      await firstClient.endAsync();
      await client.endAsync();
    });

    it('an event is stored once and acknowledged under the hub’s signature, however often it comes', async () => {
      const node = await hub.enroll('eventful');
      const client = await hub.connect(node);
      for (const seq of [1, 2, 2, 1, 5]) await say(client, node, 'event', event(seq));
      await acknowledged(client, node, 5);
      expect((await stored('eventful')).map(({ seq }) => seq)).to.deep.equal([1, 2, 5]);
      await say(client, node, 'event', event(1, 's2'));
      await acknowledged(client, node, 1, 's2');
      expect(await stored('eventful')).to.have.length(4);
      await client.endAsync();
    });

    it('a hub that is killed at any moment loses no acknowledged event and stores none twice', async () => {
      const node = await hub.enroll('surviving');
      let seq = 0;
      // As a node does: again until it is acknowledged. Nobody hears it until the lease of the hub that died has ended.
      const sent = async (client: MqttClient, number: number): Promise<void> => {
        const done = acknowledged(client, node, number);
        const again = setInterval(() => void say(client, node, 'event', event(number)), 500);
        await say(client, node, 'event', event(number));
        await done.finally(() => clearInterval(again));
      };
      for (let round = 0; round < 4; round++) {
        const client = await hub.connect(node);
        // The last one is under way when the hub dies.
        for (let n = 0; n < 3; n++) {
          seq++;
          await sent(client, seq);
        }
        await say(client, node, 'event', event(seq + 1));
        await hub.kill();
        client.end(true);
        await hub.serve();
      }
      const client = await hub.connect(node);
      seq++;
      await sent(client, seq);
      const all = (await stored('surviving')).map(({ seq: each }) => each);
      expect(all).to.deep.equal(Array.from({ length: seq }, (_, at) => at + 1));
      await client.endAsync();
    });

    it('a node that is heard in two sessions or two boots that take turns has an alarm, and the audit says so', async () => {
      for (const [id, what, names] of [
        ['twin-a', 'presence', ['a', 'b', 'b', 'a']],
        ['twin-b', 'status', ['boot-a', 'boot-b', 'boot-a']],
        ['single', 'presence', ['a', 'b', 'c', 'd']],
      ] as const) {
        const node = await hub.enroll(id);
        const client = await hub.connect(node);
        for (const name of names)
          await say(client, node, what, what === 'presence' ? presence(name) : { nonce: `${name}.1` });
        await say(client, node, 'event', event(1));
        await acknowledged(client, node, 1);
        await client.endAsync();
      }
      const alarms = (await hub.call('GET', '/v1/nodes?state=alarm')).body['nodes'] as readonly {
        readonly id: string;
      }[];
      expect(alarms.map(({ id }) => id)).to.deep.equal(['twin-a', 'twin-b']);
      const { records } = (await hub.call('GET', '/v1/audit')).body as {
        readonly records: readonly object[];
      };
      expect(records.filter((each) => 'outcome' in each && each.outcome === 'alarm')).to.have.length(2);
      expect((await hub.call('DELETE', '/v1/nodes/twin-a/alarm')).body).to.include({
        id: 'twin-a',
        alarm: null,
      });
    });

    it('a node whose audit goes back behind what the hub has heard has an alarm, also after a restart of the hub; a longer one has none', async () => {
      const head = (seq: number, hash = `h${seq}`) => ({ nonce: 'boot.1', audit_head: { seq, hash } });
      const told: Readonly<Record<string, readonly [object, object]>> = {
        'audit-older': [head(9), head(4)],
        'audit-other': [head(9), head(9, 'another')],
        'audit-longer': [head(9), head(12)],
        'audit-silent': [head(9), { nonce: 'boot.1' }],
      };
      const nodes = new Map<string, EnrolledNode>();
      for (const id of Object.keys(told)) nodes.set(id, await hub.enroll(id));
      for (const half of [0, 1] as const) {
        for (const [id, node] of nodes) {
          const client = await hub.connect(node);
          await say(client, node, 'status', told[id]?.[half] ?? {});
          await say(client, node, 'event', event(half + 1));
          await acknowledged(client, node, half + 1);
          await client.endAsync();
        }
        if (half === 1) break;
        await hub.kill('SIGTERM');
        await hub.serve();
      }
      const { nodes: alarming } = (await hub.call('GET', '/v1/nodes?state=alarm')).body as {
        readonly nodes: readonly { readonly id: string; readonly alarm: string }[];
      };
      const found = alarming.filter(({ id }) => id.startsWith('audit-'));
      expect(found.map(({ id }) => id)).to.deep.equal(['audit-older', 'audit-other']);
      expect(found[0]?.alarm).to.include('audit');
    });

    it('an audit that goes back beside two machines with one key is found as soon as that alarm is cleared', async () => {
      const node = await hub.enroll('audit-twin');
      const client = await hub.connect(node);
      const tell = async (boot: string, seq: number): Promise<void> =>
        void (await say(client, node, 'status', {
          nonce: `${boot}.1`,
          audit_head: { seq, hash: `h${seq}` },
        }));
      const alarm = hub.streamed(
        (name, { id, alarm: text }) => name === 'node' && id === 'audit-twin' && text !== null,
      );
      for (const [boot, seq] of [
        ['a', 9],
        ['b', 9],
        ['a', 4],
      ] as const)
        await tell(boot, seq);
      expect((await alarm)['alarm']).to.include('Two machines');
      await hub.call('DELETE', '/v1/nodes/audit-twin/alarm');
      const next = hub.streamed(
        (name, { id, alarm: text }) => name === 'node' && id === 'audit-twin' && text !== null,
      );
      await tell('a', 4);
      expect((await next)['alarm']).to.include('audit');
      await client.endAsync();
    });

    it('a node that sends events without end is delayed and named; the events of others are stored meanwhile', async () => {
      const [loud, quiet] = [await hub.enroll('loud'), await hub.enroll('quiet')];
      const [flood, other] = [await hub.connect(loud), await hub.connect(quiet)];
      const all = Array.from({ length: 6000 }, async (_, n) => say(flood, loud, 'event', event(n + 1)));
      const named = hub.streamed((name, { id, alarm }) => name === 'node' && id === 'loud' && alarm !== null);
      await Promise.all(all);
      await say(other, quiet, 'event', event(1));
      await acknowledged(other, quiet, 1);
      expect((await named)['alarm']).to.include('more than the hub takes');
      const [found] = await hub.sql("SELECT count(*) AS n FROM events WHERE node = 'loud'");
      expect(Number(found?.['n']), 'a minute of them, and what the time since allows').to.be.within(
        3000,
        5500,
      );
      const { records } = (await hub.call('GET', '/v1/audit')).body as {
        readonly records: readonly object[];
      };
      const alarms = records.filter(
        (each) =>
          'changed' in each && each.changed === 'loud' && 'outcome' in each && each.outcome === 'alarm',
      );
      expect(alarms).to.have.length(1);
      // It hides neither an audit that goes back
      const back = hub.streamed(
        (name, { id, alarm }) => name === 'node' && id === 'loud' && String(alarm).includes('audit'),
      );
      for (const seq of [9, 4]) await say(flood, loud, 'status', { audit_head: { seq, hash: `h${seq}` } });
      await back;
      // nor a second machine with its key.
      for (const name of ['a', 'b', 'a']) await say(flood, loud, 'presence', presence(name));
      await hub.streamed(
        (name, { id, alarm }) => name === 'node' && id === 'loud' && String(alarm).startsWith('Two machines'),
      );
      await Promise.all([flood.endAsync(), other.endAsync()]);
    });

    it('what is malformed, or of a node that is not enrolled, is counted and dropped', async () => {
      const node = await hub.enroll('babbling');
      const before = (await hub.call('GET', '/v1/fleet')).body['dropped'] as { readonly malformed: number };
      const client = await hub.connect(node);
      await looked(client, node, { mode: 'LOITER' });
      await say(client, node, 'presence', 'no JSON');
      await say(client, node, 'presence', { ...presence('a'), online: 'yes' });
      await say(client, node, 'event', { ...event(1), seq: -1 });
      await say(client, node, 'telemetry', '[]');
      await say(client, node, 'telemetry', { text: 'x'.repeat(70_000) });
      await say(client, node, 'event', event(1));
      await acknowledged(client, node, 1);
      const { dropped } = (await hub.call('GET', '/v1/fleet')).body;
      expect(dropped).to.deep.equal({ ...before, malformed: before.malformed + 5 });
      await client.endAsync();
    });

    it('a node that says what no node says is quarantined until somebody clears it; the page and the other nodes go on', async () => {
      const deep = (name: string): string => `{"${name}":${'['.repeat(5000)}${']'.repeat(5000)}}`;
      const ofEvent = (detail: string): string =>
        JSON.stringify(event(1)).replace(/"detail":.*/, `"detail":${detail}}`);
      const said: readonly (readonly ['status' | 'event' | 'telemetry', string])[] = [
        ['status', deep('mode')],
        ['status', '{"mode":"A","mode":"B"}'],
        ['status', '{"__proto__":{"armed":"armed"}}'],
        ['event', ofEvent(deep('a'))],
        ['telemetry', deep('position')],
      ];
      const calm = await hub.enroll('calm-beside');
      const other = await hub.connect(calm);
      for (const [at, [what, text]] of said.entries()) {
        const node = await hub.enroll(`stolen-${at}`);
        const client = await hub.connect(node);
        await say(client, node, 'presence', presence('a'));
        if (what === 'telemetry') await looked(client, node, { mode: 'LOITER' });
        const named = hub.streamed(
          (name, { id, alarm }) => name === 'node' && id === node.id && alarm !== null,
        );
        await say(client, node, what, text);
        expect((await named)['alarm'], text.slice(0, 40)).to.include('JSON that no node sends');
        await say(client, node, 'status', { mode: 'AUTO' });
        await say(other, calm, 'event', event(at + 1));
        await acknowledged(other, calm, at + 1);
        const { status, body } = await hub.call('GET', '/v1/nodes?limit=500');
        expect(status).to.equal(200);
        const entry = (body['nodes'] as readonly Record<string, unknown>[]).find(({ id }) => id === node.id);
        expect(entry).to.deep.include({ status: null, online: true });
        expect((await hub.call('DELETE', `/v1/nodes/${node.id}/alarm`)).status).to.equal(200);
        await say(client, node, 'status', { mode: 'LAND' });
        await hub.streamed((name, { id, status: now }) => name === 'node' && id === node.id && now !== null);
        await client.endAsync();
      }
      await other.endAsync();
    });

    it('a node that says what a database cannot store, or has more streams than are remembered, holds up nobody', async () => {
      const [odd, calm] = [await hub.enroll('odd'), await hub.enroll('calm')];
      const [one, other] = [await hub.connect(odd), await hub.connect(calm)];
      const odious = { online: true, session: 's', at: 0, version: '1', profile: 'drone', name: 'n\0' };
      await say(one, odd, 'presence', odious);
      for (const change of [
        { kind: 'a\0b' },
        { stream: '\ud800' },
        { stream: '\udfff' },
        { at: 1e300 },
        { seq: 1e300 },
        { detail: { text: 'a\0\ud800' } },
      ])
        await say(one, odd, 'event', { ...event(1), ...change });
      for (let round = 0; round < 2; round++)
        for (let n = 0; n < 12; n++) void say(one, odd, 'event', event(2 + round, `stream-${n}`));
      await say(other, calm, 'event', event(1));
      await acknowledged(other, calm, 1);
      await say(one, odd, 'event', event(9));
      await acknowledged(one, odd, 9);
      expect((await hub.call('GET', '/v1/nodes/odd')).body).to.include({ name: 'name of odd' });
      for (const query of ['after=1e300', 'limit=1e309', 'limit=-1e309'])
        expect((await hub.call('GET', `/v1/events?${query}`)).status, query).to.equal(422);
      const named = await hub.call('POST', '/v1/credentials', { body: { label: 'a\0', scopes: ['read'] } });
      expect(named.status).to.equal(422);
      await Promise.all([one.endAsync(), other.endAsync()]);
    });

    it('a removed node is cut off within 5 s: it neither reads nor writes, and its statements are forgotten', async () => {
      const node = await hub.enroll('leaving');
      const first = await hub.connect(node);
      const { fleet } = node.enrolled;
      await heard(first, topics.policy(fleet));
      await say(first, node, 'presence', presence('a'));
      const thrownOff = new Promise<void>((resolve) => first.once('close', resolve));
      const gone = hub.streamed((name, { id }) => name === 'removed' && id === 'leaving');
      await hub.streamed((name, { id, online }) => name === 'node' && id === 'leaving' && online === true);
      const at = performance.now();
      expect((await hub.call('DELETE', '/v1/nodes/leaving')).status).to.equal(200);
      await Promise.all([gone, thrownOff]);
      const client = await hub.connect(node); // it comes back, and may nothing
      let reason = 0;
      // Mosquitto answers 135, "not authorized", and takes nothing.
      while (reason !== 135 && performance.now() - at < 15_000)
        reason = await new Promise((resolve) => {
          client.publish(topics.told(fleet, 'leaving', 'status'), '{}', { qos: 1 }, (error) =>
            resolve(error !== null && error !== undefined && 'code' in error ? error.code : 0),
          );
        });
      expect(reason).to.equal(135);
      expect(performance.now() - at).to.be.lessThan(15_000);
      const messages: string[] = [];
      client.on('message', (topic) => messages.push(topic));
      const watcher = await hub.connect(await hub.enroll('staying'));
      const { id } = (await hub.call('POST', '/v1/credentials', { body: { label: 'x', scopes: ['read'] } }))
        .body;
      const policy = heard(watcher, topics.policy(fleet), (text) => payloadOf(text).includes(String(id)));
      await hub.call('DELETE', `/v1/credentials/${String(id)}`);
      await policy;
      expect(messages).to.deep.equal([]);
      await Promise.all([client.endAsync(), watcher.endAsync()]);
    });

    it('a node that was removed may enrol again, and is heard then', async () => {
      await hub.enroll('returning');
      await hub.call('DELETE', '/v1/nodes/returning');
      const node = await hub.enroll('returning');
      const client = await hub.connect(node);
      await say(client, node, 'event', event(1));
      await acknowledged(client, node, 1);
      await client.endAsync();
    });

    it('the policy has a higher number each time, lists what was revoked, and is signed by a key that it lists', async () => {
      const node = await hub.enroll('listening');
      const client = await hub.connect(node);
      const { fleet } = node.enrolled;
      const first = await heard(client, topics.policy(fleet));
      const made = await hub.call('POST', '/v1/credentials', { body: { label: 'laptop', scopes: ['read'] } });
      const next = heard(client, topics.policy(fleet), (text) => text !== first);
      const { id } = made.body;
      await hub.call('DELETE', `/v1/credentials/${String(id)}`);
      const believe = async (jws: string) =>
        (await verifyStatement('svc-policy', jws, () => hubKey(node))).payload;
      const [older, newer] = [await believe(first), await believe(await next)];
      expect(newer.seq).to.be.greaterThan(older.seq);
      expect(newer.revoked).to.include(id);
      expect(older.revoked).not.to.include(id);
      // A hub whose database is that of yesterday goes on above what the nodes have seen.
      expect(newer.seq).to.be.at.least(Math.floor(Date.now() / 1000) - 60);
      await client.endAsync();
    });

    it('finds the broker again when that was killed', async () => {
      const node = await hub.enroll('patient');
      const client = await hub.connect(node);
      const closed = Promise.withResolvers<void>();
      client.on('close', () => closed.resolve());
      const before = hub.times('connected to the broker');
      process.kill(hub.brokerPid, 'SIGKILL');
      await closed.promise;
      await hub.logged('connected to the broker', before + 1);
      expect(hub.stderr).to.match(/the broker is away|broker: /); // by the end of the connection, or by its error
      const again = await hub.connect(node);
      await say(again, node, 'event', event(1));
      await acknowledged(again, node, 1);
      await again.endAsync();
    });
  });
