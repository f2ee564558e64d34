import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import {
  newSigningKey,
  publicJwk,
  signStatement,
  thumbprint,
  verifyStatement,
} from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import type { MachineToken, PublicJwk, Watch } from '../../shared/schemas/fleet-statements.ts';
import { newJti, newSigner, type Signer, signCall } from '../support/fleet-hand.ts';
import { type EnrolledNode, type HubAnswer, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';

type Body = Readonly<Record<string, unknown>>;
const NONCE = 'bootboot.1';
const missing = noMosquitto();

function hubKey({ enrolled }: EnrolledNode): PublicJwk {
  const text = Buffer.from(enrolled.policy.split('.')[1] ?? '', 'base64url').toString();
  const { keys } = JSON.parse(text) as { readonly keys: readonly [PublicJwk] };
  return keys[0];
}

/** A person at the hub, with a key as their browser makes one; the node is played by hand. */
describe(`people who call nodes through the hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(60_000);
  let hub: TestHub;
  let node: EnrolledNode;
  let client: MqttClient;
  let key: Signer;
  /** What the node does with a call; by default it answers 200 with the path. */
  let answer: (topic: string, jws: string) => Promise<string | null>;

  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.start();
    [node, key] = await Promise.all([hub.enroll('kestrel'), newSigner()]);
    client = await hub.connect(node);
    client.on('message', (topic, payload) => void take(topic, payload.toString()));
    await client.subscribeAsync([topics.personCalls(node.enrolled.fleet, node.id)], { qos: 1 });
  });
  after(async () => {
    await client?.endAsync(true);
    await hub?.stop();
  });
  beforeEach(() => {
    answer = async (_topic, jws) => signed(jws, 200);
  });

  async function take(topic: string, jws: string): Promise<void> {
    const caller = topic.split('/').at(-1) ?? '';
    if (!topic.includes('/person/')) return;
    const reply = await answer(topic, jws);
    if (reply !== null)
      await client.publishAsync(topics.reply(node.enrolled.fleet, caller, node.id), reply, { qos: 1 });
  }

  async function signed(
    jws: string,
    status: number,
    by = node.signingKey,
    change: Body = {},
  ): Promise<string> {
    const { jti, path } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
      path: string;
    };
    const reply = { node: node.id, jti, status, body: { path }, ...change };
    return signStatement('svc-reply', reply, by, await thumbprint(publicJwk(by)));
  }

  async function token(credential = hub.operator, by = key): Promise<HubAnswer> {
    return hub.call('POST', '/v1/me/token', { credential, body: { key: by.jwk } });
  }

  async function call(path = '/api/status', credential = hub.operator, jti = newJti()): Promise<string> {
    const { body } = await token(credential);
    const statement = { method: 'GET', path, node: node.id, nonce: NONCE, jti } as const;
    return signCall({ signer: key, token: String(body['token']) }, statement);
  }

  async function carry(jws: string, options: Body = {}, credential = hub.operator): Promise<HubAnswer> {
    return hub.call('POST', `/v1/nodes/${node.id}/calls`, { credential, body: { call: jws, ...options } });
  }

  async function person(scopes: readonly string[], nodes: readonly string[] | null = null) {
    const { body } = await hub.call('POST', '/v1/operators', { body: { name: 'somebody', scopes, nodes } });
    return { id: String(body['id']), credential: String(body['credential']) };
  }

  it('get a token for the key in their browser, no wider than they are and for a quarter of an hour', async () => {
    const { credential, id } = await person(['read', 'safe_write'], [node.id]);
    const { status, body } = await token(credential);
    expect(status).to.equal(200);
    const { payload } = await verifyStatement('svc-machine-token', String(body['token']), () => hubKey(node));
    const expected: Partial<MachineToken> = {
      sub: id,
      scopes: ['read', 'safe_write'],
      nodes: [node.id],
      cnf: { jwk: key.jwk },
    };
    expect(payload).to.deep.include(expected);
    expect(payload.exp - payload.iat).to.equal(15 * 60);
    expect(body).to.deep.include({ id, expires_at: payload.exp * 1000 });
    const { body: machine } = await hub.call('POST', '/v1/credentials', {
      body: { label: 'laptop', scopes: ['read'] },
    });
    expect((await token(String(machine['credential']))).body['code']).to.equal('E_SCOPE');
    const weak = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) };
    for (const bad of [weak, { ...key.jwk, d: 'A'.repeat(43) }, { kty: 'EC' }, null])
      expect((await hub.call('POST', '/v1/me/token', { body: { key: bad } })).body['code']).to.equal(
        'E_INVALID_VALUE',
      );
  });

  it('get the answer that the node has signed, and nothing else that comes in its name', async () => {
    const { body, status } = await carry(await call('/api/telemetry'));
    expect(status, JSON.stringify(body)).to.equal(200);
    const { payload } = await verifyStatement('svc-reply', String(body['reply']), () =>
      publicJwk(node.signingKey),
    );
    expect(payload).to.deep.include({ node: node.id, status: 200, body: { path: '/api/telemetry' } });
    const forged: Readonly<Record<string, (jws: string) => Promise<string>>> = {
      'another key': async (jws) => signed(jws, 500, newSigningKey()),
      'another call': async (jws) => signed(jws, 500, node.signingKey, { jti: newJti() }),
      'another node': async (jws) => signed(jws, 500, node.signingKey, { node: 'drone-2' }),
      'no signature': async () => '{"status":500}',
    };
    for (const [what, forge] of Object.entries(forged)) {
      answer = async (topic, jws) => {
        const reply = topics.reply(node.enrolled.fleet, topic.split('/').at(-1) ?? '', node.id);
        await client.publishAsync(reply, await forge(jws), { qos: 1 });
        return signed(jws, 201); // the true one comes after it
      };
      const carried = await carry(await call());
      const read = await verifyStatement('svc-reply', String(carried.body['reply']), () =>
        publicJwk(node.signingKey),
      );
      expect([what, read.payload.status]).to.deep.equal([what, 201]);
    }
  });

  it('are told at once where a node is not there, and whether anything was sent', async () => {
    const away = await hub.enroll('absent');
    const jws = await call();
    const gone = await hub.call('POST', `/v1/nodes/${away.id}/calls`, { body: { call: jws } });
    expect([gone.status, gone.body['code'], gone.body['sent']]).to.deep.equal([
      503,
      'E_UPSTREAM_DOWN',
      false,
    ]);
    expect((await hub.call('POST', '/v1/nodes/nobody/calls', { body: { call: jws } })).status).to.equal(404);
    answer = async () => null;
    const silent = await carry(await call(), { timeout_ms: 1000 });
    expect([silent.status, silent.body['code'], silent.body['sent']]).to.deep.equal([504, 'E_TIMEOUT', true]);
  });

  it('reach no node that they may not see, send nothing that is no call, and not too much at once', async () => {
    const { credential } = await person(['read'], ['drone-2']);
    expect((await carry(await call(), {}, credential)).status).to.equal(404);
    for (const bad of ['', 'a.b.c', 'no call', 'A'.repeat(262_145), 'e30.e30.e30'])
      expect((await carry(bad)).body['code'], bad.slice(0, 20)).to.equal('E_INVALID_VALUE');
    expect((await carry(await call(), { timeout_ms: 1 })).body['code']).to.equal('E_INVALID_VALUE');
    const held = Promise.withResolvers<null>();
    const reached = Promise.withResolvers<null>();
    let count = 0;
    answer = async (_topic, jws) => {
      if (++count === 16) reached.resolve(null);
      await held.promise;
      return signed(jws, 200);
    };
    const own = await person(['read']);
    const jti = newJti();
    const first = carry(await call('/api/status', own.credential, jti), {}, own.credential);
    const more = Array.from({ length: 15 }, async () =>
      carry(await call('/api/status', own.credential), {}, own.credential),
    );
    await reached.promise;
    const twice = await carry(await call('/api/status', own.credential, jti), {}, own.credential);
    expect(twice.body['code']).to.equal('E_RATE_LIMITED');
    // Somebody else still gets through.
    const other = carry(await call());
    held.resolve(null);
    expect((await other).status).to.equal(200);
    for (const each of [first, ...more]) expect((await each).status).to.equal(200);
  });

  it('are not spoken for once they have gone: a hub that stood still sends nothing of theirs', async () => {
    const [lost, kept] = [await call('/api/lost'), await call('/api/kept')];
    const came: string[] = [];
    answer = async (_topic, jws) => {
      came.push(jws);
      return signed(jws, 200);
    };
    process.kill(hub.pid, 'SIGSTOP');
    const given = request(`${hub.url}/v1/nodes/${node.id}/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hub.operator}`, 'content-type': 'application/json' },
    });
    given.end(JSON.stringify({ call: lost }));
    await once(given, 'finish'); // the kernel has it for the hub
    given.destroy();
    expect(await once(given, 'close').catch((error: Error) => error.message)).to.equal('socket hang up');
    process.kill(hub.pid, 'SIGCONT');
    expect((await carry(kept)).status).to.equal(200);
    expect(came).to.deep.equal([kept]);
  });

  it('call as themselves alone: the hub publishes in the name of whoever signed in', async () => {
    const { credential, id } = await person(['read']);
    const came: string[] = [];
    answer = async (topic, jws) => {
      came.push(topic);
      return signed(jws, 401);
    };
    await carry(await call(), {}, credential); // a call with another's token: the node refuses it
    expect(came).to.deep.equal([topics.call(node.enrolled.fleet, node.id, id)]);
  });

  it('end with their credential: the nodes are told, and open streams end', async () => {
    const { credential, id } = await person(['read']);
    const stream = await fetch(`${hub.url}/v1/live?nodes=${node.id}`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    expect(stream.status).to.equal(200);
    const told = Promise.withResolvers<string>();
    const policy = (topic: string, payload: Buffer): void => {
      if (topic.endsWith('/policy')) {
        const text = Buffer.from(payload.toString().split('.')[1] ?? '', 'base64url').toString();
        if ((JSON.parse(text) as { revoked: readonly string[] }).revoked.includes(id)) told.resolve(text);
      }
    };
    client.on('message', policy);
    await client.subscribeAsync(topics.policy(node.enrolled.fleet), { qos: 1 });
    const jws = await call('/api/status', credential);
    expect((await hub.call('DELETE', `/v1/operators/${id}`)).status).to.equal(200);
    await told.promise;
    client.off('message', policy);
    await stream.text(); // it ends
    expect((await carry(jws, {}, credential)).status).to.equal(401);
  });

  it('who only reads leaves places for streams to administrators', async () => {
    const leave = new AbortController();
    const answers: Response[] = []; // an answer that nobody holds any more is collected, and its stream ends
    const open = async (credential: string): Promise<number> => {
      const headers = { authorization: `Bearer ${credential}` };
      const answered = await fetch(`${hub.url}/v1/live?nodes=${node.id}`, { headers, signal: leave.signal });
      answers.push(answered);
      return answered.status;
    };
    const statuses: number[] = [];
    for (let people = 0; people < 11; people++) {
      const { credential } = await person(['read']);
      statuses.push(...(await Promise.all(Array.from({ length: 8 }, async () => open(credential)))));
    }
    expect(statuses.filter((status) => status === 200).length).to.equal(80);
    expect(await open((await person(['read', 'admin'], [node.id])).credential)).to.equal(429);
    expect(await open(hub.operator)).to.equal(200);
    expect(answers).to.have.length(90);
    leave.abort();
  });

  it('who looks is told what comes, at once, and the node that somebody looks, under the signature of the hub', async () => {
    await client.publishAsync(
      topics.told(node.enrolled.fleet, node.id, 'status'),
      JSON.stringify({ nonce: NONCE }),
      {
        qos: 1,
        retain: true,
      },
    );
    await hub.streamed((_name, { id, status }) => id === node.id && status !== null);
    const watches: Watch[] = [];
    const told = Promise.withResolvers<null>();
    const listen = async (topic: string, payload: Buffer, { retain }: { retain: boolean }): Promise<void> => {
      if (topic !== topics.watch(node.enrolled.fleet, node.id)) return;
      expect(retain).to.equal(false);
      const read = await verifyStatement('svc-watch', payload.toString(), () => hubKey(node));
      watches.push(read.payload);
      if (watches.length === 2) told.resolve(null);
    };
    const hear = (topic: string, payload: Buffer, packet: { retain: boolean }): void =>
      void listen(topic, payload, packet).catch((error: Error) => told.reject(error));
    client.on('message', hear);
    await client.subscribeAsync(topics.watch(node.enrolled.fleet, node.id), { qos: 1 });
    const stop = new AbortController();
    const answered = await fetch(`${hub.url}/v1/live?nodes=${node.id}&telemetry_hz=8&pictures_hz=2`, {
      headers: { authorization: `Bearer ${hub.operator}` },
      signal: stop.signal,
    });
    await told.promise;
    const [one, two] = watches;
    expect(one).to.deep.include({
      node: node.id,
      nonce: NONCE,
      telemetry_hz: 8,
      pictures_hz: 2,
      seconds: 10,
    });
    expect(one?.jti).not.to.equal(two?.jti);
    const picture = Buffer.from('ffd8ffe0000102', 'hex');
    const say = async (what: 'telemetry' | 'picture', body: string | Buffer): Promise<unknown> =>
      client.publishAsync(topics.told(node.enrolled.fleet, node.id, what), body, { qos: 1 });
    await say('picture', 'no picture');
    await say('picture', Buffer.concat([picture, Buffer.alloc(64 * 1024)]));
    await say('telemetry', '{"mode":"GUIDED"}');
    await say('picture', picture);
    const found: [string, unknown][] = [];
    if (answered.body === null) throw new Error('no stream');
    for await (const { event, data } of readEvents(Readable.fromWeb(answered.body as never))) {
      const { telemetry, jpeg } = data as { telemetry?: unknown; jpeg?: string };
      found.push([event, telemetry ?? jpeg]);
      if (event === 'picture') break;
    }
    stop.abort();
    client.off('message', hear);
    expect(found).to.deep.equal([
      ['telemetry', { mode: 'GUIDED' }],
      ['picture', picture.toString('base64')],
    ]);
    const live = async (query: string): Promise<number> =>
      (await hub.call('GET', `/v1/live?${query}`)).status;
    expect([
      await live('nodes=nobody'),
      await live(`nodes=${Array.from({ length: 17 }, () => node.id).join()}`),
      await live(`nodes=${node.id}&telemetry_hz=11`),
      await live(''),
    ]).to.deep.equal([404, 422, 422, 422]);
  });
});
