import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connectAsync, type MqttClient } from 'mqtt';
import { publicJwk, thumbprint } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import type { CallStatement, PublicJwk, Reply } from '../../shared/schemas/fleet-statements.ts';
import { NONCE_MS } from '../../shared/schemas/nonce.ts';
import { askAgain, worksAtLast } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import {
  FleetHand,
  newJti,
  newSigner,
  readReply,
  type Signer,
  signCall,
  signConfirm,
} from '../support/fleet-hand.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

type Body = Readonly<Record<string, unknown>>;
const KEYED = { 'x-svc-key': KEY };
const ARM = { method: 'POST', path: '/api/command', body: { cmd: 'arm' } } as const;
/** How long a reply may take; none within it is a call that nobody answered. */
const REPLY_MS = 5000;

/**
 * Somebody has the hub: its signing key, its database, its certificate at the broker, and every message there. An honest person has
 * flown through it a moment ago. The node and its simulated vehicle are real.
 */
describe('a hub in foreign hands', function () {
  this.timeout(180_000);
  let hub: TestHub;
  let node: TestNode;
  let client: MqttClient;
  /** What the attacker signs with: the hub's own key. */
  let hand: FleetHand;
  let operator: Signer;
  let person: { readonly id: string; readonly signer: Signer; readonly token: string };
  let id: string;
  let brokerPid: number;
  let nodeKey: PublicJwk;
  /** The honest person's calls, as they went over the broker. */
  const seen: { readonly topic: string; readonly jws: string }[] = [];
  const replies = new Map<string, (reply: Reply) => void>();

  before(async function () {
    if (noMosquitto() !== null) return this.skip();
    operator = await newSigner();
    [hub, node] = await Promise.all([
      TestHub.start(),
      TestNode.start({
        pairing: { key: KEY },
        config: `fleet:\n  scopes: [read, safe_write, admin, flight, destructive]\n  operators: ['ada ${operator.jwk.x}']\n`,
      }),
    ]);
    const { body } = await hub.call('POST', '/v1/codes');
    await onNode('fleet', 'enroll', `https://127.0.0.1:${hub.httpsPort}`, String(body['code']));
    const entry = await hub.streamed((_name, { online, status }) => online === true && status !== null);
    id = String(entry['id']);
    nodeKey = entry['signing_key'] as PublicJwk;
    // What is taken: the key that signs for the hub, and its place at the broker. The hub itself goes on elsewhere.
    const key = createPrivateKey(await readFile(join(hub.folder, 'signing.key'), 'utf8'));
    const jwk = publicJwk(key);
    const { body: fleet } = await hub.call('GET', '/v1/fleet');
    hand = await FleetHand.create(String(fleet['fleet']));
    Object.assign(hand, { hub: { key, jwk, kid: await thumbprint(jwk) } });
    await honestFlight();
    client = await connectAsync(String((fleet['broker'] as Body)['url']), {
      ca: await readFile(join(hub.folder, 'ca.pem')),
      cert: await readFile(join(hub.folder, 'mqtt.pem')),
      key: await readFile(join(hub.folder, 'mqtt.key')),
      clientId: 'hub',
      protocolVersion: 5,
      reconnectPeriod: 200,
    });
    client.on('connect', () => client.subscribe(`svc/1/${hand.fleet}/#`, { qos: 1 }));
    client.on('message', (topic, payload) => void hear(topic, payload.toString()));
    await client.subscribeAsync(`svc/1/${hand.fleet}/#`, { qos: 1 });
  });
  after(async () => {
    await client?.endAsync(true);
    if (hub !== undefined) process.kill(hub.pid, 'SIGCONT');
    await Promise.all([hub?.stop(), node?.stop()]);
  });

  async function onNode(...args: readonly string[]): Promise<void> {
    const said = await svc(node.paths, ...args);
    expect(said.code, said.stderr).to.equal(0);
  }

  /** A person arms and disarms through the hub, as their browser would; what they sent is in the attacker's hands. */
  async function honestFlight(): Promise<void> {
    const signer = await newSigner();
    const { body } = await hub.call('POST', '/v1/me/token', { body: { key: signer.jwk } });
    person = { id: String(body['id']), signer, token: String(body['token']) };
    await ready();
    for (const cmd of ['arm', 'disarm']) {
      const own = await statement({ ...ARM, body: { cmd } });
      const jws = await signCall(person, own, await signConfirm(operator, own, 'hold'));
      const carried = await hub.call('POST', `/v1/nodes/${id}/calls`, { body: { call: jws } });
      const { status, body: said } = await readReply(String(carried.body['reply']), nodeKey);
      expect([cmd, status, (said as Body)['status']]).to.deep.equal([cmd, 200, 'accepted']);
      seen.push({ topic: topics.call(hand.fleet, id, person.id), jws });
    }
    await grounded();
    // The hub is switched off: whoever has its key speaks in its place.
    brokerPid = hub.brokerPid;
    expect(brokerPid).to.be.above(0);
    process.kill(hub.pid, 'SIGSTOP');
  }

  async function telemetry(): Promise<Body> {
    return (await node.json('/api/telemetry', { headers: KEYED })).body;
  }

  async function ready(): Promise<void> {
    await askAgain('ready', telemetry, ({ prearm }) => (prearm as Body | null)?.['can_arm'] === true);
  }

  async function grounded(): Promise<void> {
    await askAgain('disarmed', telemetry, ({ armed }) => armed === false);
  }

  /** The newest nonce, as the node tells everybody. */
  async function nonce(): Promise<string> {
    const own = await signCall(await hand.caller({ sub: 'op_asks000001' }), {
      method: 'GET',
      path: '/healthz',
      node: id,
      nonce: '00000000.0',
      jti: newJti(),
    });
    if (client === undefined) {
      const { body } = await hub.call('GET', `/v1/nodes/${id}`);
      return String((body['status'] as Body)['nonce']);
    }
    return String((await publish('op_asks000001', own))?.['nonce']);
  }

  async function statement(change: Partial<CallStatement> = {}): Promise<CallStatement> {
    return { ...ARM, node: id, nonce: await nonce(), within_ms: NONCE_MS, jti: newJti(), ...change };
  }

  async function hear(topic: string, text: string): Promise<void> {
    if (!topic.includes('/reply/')) return;
    const reply = await readReply(text, nodeKey);
    replies.get(reply.jti)?.(reply);
  }

  /** A call at the broker, in whoever's name. @returns body and status of the node's answer; null: it gave none */
  async function publish(caller: string, jws: string, to = id): Promise<Body | null> {
    const { jti } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
    };
    const answered = Promise.withResolvers<Body | null>();
    const late = setTimeout(() => answered.resolve(null), REPLY_MS);
    replies.set(jti, ({ status, body }) => answered.resolve({ ...(body as Body), http: status }));
    await client.publishAsync(topics.call(hand.fleet, to, caller), jws, { qos: 1 });
    return answered.promise.finally(() => {
      clearTimeout(late);
      replies.delete(jti);
    });
  }

  async function stillDisarmed(what: string): Promise<void> {
    expect(await telemetry(), what).to.include({ armed: false });
  }

  it('makes tokens of any right, and flies nothing with them', async () => {
    await ready();
    const thief = await hand.caller({ sub: 'op_thief00001' });
    const asPerson = { ...(await hand.caller({ sub: person.id })), id: person.id };
    for (const by of [thief, asPerson]) {
      const own = await statement();
      const confirms: readonly (string | undefined)[] = [
        undefined,
        await signConfirm(hand.hub, own, 'confirm'),
        await signConfirm(by.signer, own, 'confirm'),
        await signConfirm(await newSigner(), own, 'hold'),
      ];
      for (const confirm of confirms) {
        const call = { ...own, jti: newJti() };
        const said = await publish(by.id, await signCall(by, call, confirm));
        expect([said?.['http'], said?.['code']]).to.deep.equal([403, 'E_CONFIRM']);
      }
    }
    await stillDisarmed('forged tokens');
  });

  it('has the broker stand still: a call of the person comes after its deadline, and does not run', async () => {
    await ready();
    const own = await statement({ within_ms: 500 });
    const jws = await signCall(person, own, await signConfirm(operator, own, 'hold'));
    process.kill(brokerPid, 'SIGSTOP');
    const answer = publish(person.id, jws);
    await sleep(700);
    process.kill(brokerPid, 'SIGCONT');
    expect(await answer).to.include({ http: 401, code: 'E_STALE' });
    await stillDisarmed('a call after its deadline');
  });

  it('repeats what the person sent, whole or in parts, and the vehicle stays where it is', async () => {
    await ready();
    const [arm] = seen;
    if (arm === undefined) throw new Error('nothing was sent');
    // The same call has its first answer, and does not run again.
    expect(await publish(person.id, arm.jws)).to.include({ http: 200, status: 'accepted' });
    await stillDisarmed('a replay');
    const header = JSON.parse(Buffer.from(arm.jws.split('.')[0] ?? '', 'base64url').toString()) as {
      readonly confirm: string;
    };
    const old = JSON.parse(Buffer.from(arm.jws.split('.')[1] ?? '', 'base64url').toString()) as CallStatement;
    const thief = await hand.caller({ sub: 'op_thief00002' });
    const changes: Readonly<Record<string, Partial<CallStatement>>> = {
      'another jti': { ...old, jti: newJti() },
      'another nonce': { ...old, nonce: await nonce() },
      'another body': { ...old, body: { cmd: 'takeoff', args: [500] } },
      'another path': { ...old, path: '/api/mission' },
    };
    for (const [what, change] of Object.entries(changes)) {
      const said = await publish(thief.id, await signCall(thief, await statement(change), header.confirm));
      expect([what, said?.['http'], said?.['code']]).to.deep.equal([what, 403, 'E_CONFIRM']);
    }
    // The whole, but under the attacker's token: a call of its own to the node, whose nonce the person's confirm names.
    const stolen = await publish(thief.id, await signCall(thief, old, header.confirm));
    expect(stolen?.['code']).to.be.oneOf(['E_STALE', 'E_CONFIRM']);
    await stillDisarmed('a confirmation under another token');
    await grounded();
    const forOthers = await publish(person.id, arm.jws, 'drone-2');
    expect(forOthers).to.equal(null);
  });

  it('makes a policy of its own key, and flies no more than before', async () => {
    const mine = await newSigner();
    const seq = Math.floor(Date.now() / 1000) + 1000;
    const keys = [hand.hub.jwk, mine.jwk];
    await client.publishAsync(topics.policy(hand.fleet), await hand.policy({ seq, keys }), {
      qos: 1,
      retain: true,
    });
    const by = {
      id: 'op_thief00003',
      signer: mine,
      token: await hand.token(mine, { sub: 'op_thief00003' }, mine),
    };
    await askAgain(
      'the node believes the new key',
      async () =>
        publish(
          by.id,
          await signCall(by, await statement({ method: 'GET', path: '/api/status', body: undefined })),
        ),
      (said) => said?.['http'] === 200,
    );
    const own = await statement();
    const said = await publish(by.id, await signCall(by, own, await signConfirm(mine, own, 'confirm')));
    expect(said?.['code']).to.equal('E_CONFIRM');
    await stillDisarmed('a policy');
  });

  it('changes nothing of who may fly: operators, scopes, tokens, the pairing, the fleet', async () => {
    const thief = await hand.caller({ sub: 'op_thief00004' });
    const doors: readonly (readonly [CallStatement['method'], string, unknown])[] = [
      ['PUT', '/api/config', { key: 'fleet.operators', value: [`eve ${thief.signer.jwk.x}`] }],
      ['PUT', '/api/config', { key: 'fleet.scopes', value: ['flight'] }],
      ['POST', '/api/mcp/tokens', { scopes: ['flight'] }],
      ['POST', '/api/pairing/unpair', { force: true }],
      ['POST', '/api/_ws/ticket', { scope: 'manual' }],
      ['POST', '/api/fleet/enroll', { hub: 'https://127.0.0.1:1', code: 'svc1-x' }],
      ['DELETE', '/api/fleet/enrollment', undefined],
    ];
    for (const [method, path, body] of doors) {
      const said = await publish(thief.id, await signCall(thief, await statement({ method, path, body })));
      expect([path, said?.['http']]).to.deep.equal([path, 403]);
    }
    const { body: config } = await node.json('/api/config', { headers: KEYED });
    expect((config['fleet'] as Body)['operators']).to.deep.equal([`ada ${operator.jwk.x}`]);
  });

  it('holds a call back, also over a restart of the node: it is old then, and does not run', async () => {
    const own = await statement({ within_ms: 2000 });
    const held = await signCall(person, own, await signConfirm(operator, own, 'hold'));
    const [boot, number] = own.nonce.split('.');
    await askAgain('it is old', nonce, (now) => Number(now.split('.')[1]) >= Number(number) + 21);
    expect((await publish(person.id, held))?.['code']).to.equal('E_STALE');
    await node.killAndAwaitSuccessor('svc-control');
    await worksAtLast('svc-control answers', telemetry);
    await askAgain('another boot', nonce, (now) => now.split('.')[0] !== boot && now !== 'undefined');
    for (const jws of [held, ...seen.map((each) => each.jws)])
      expect((await publish(person.id, jws))?.['code']).to.equal('E_OUTCOME_UNKNOWN');
    await stillDisarmed('what was held back');
  });

  it('has the key of an operator too, whom the node no longer lists: nothing flies', async () => {
    await onNode('fleet', 'operators', 'remove', 'ada');
    await node.killAndAwaitSuccessor('svc-control');
    await worksAtLast('svc-control answers', telemetry);
    await askAgain('a nonce', nonce, (now) => now !== 'undefined');
    const thief = await hand.caller({ sub: 'op_thief00005' });
    const own = await statement();
    const said = await publish(
      thief.id,
      await signCall(thief, own, await signConfirm(operator, own, 'confirm')),
    );
    expect(said?.['code']).to.equal('E_CONFIRM');
    await stillDisarmed('an operator of before');
  });

  it('what is in the database of the hub is no key of anybody', async () => {
    const db = new DatabaseSync(join(hub.folder, 'hub.db'), { readOnly: true });
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const text = JSON.stringify(
      tables.map(({ name }) => db.prepare(`SELECT * FROM ${String(name)}`).all()),
      (_key, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value),
    );
    db.close();
    expect(text).to.include(id);
    expect(text).not.to.match(/PRIVATE KEY/);
    expect(text).not.to.include(operator.jwk.x);
    expect(text).not.to.include(hub.operator.slice(-20));
  });
});
