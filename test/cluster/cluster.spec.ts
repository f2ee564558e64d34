import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { connectAsync } from 'mqtt';
import { type NodeTopic, topics } from '../../shared/fleet/topics.ts';
import { askAgain, worksAtLast } from '../support/ask-again.ts';
import { type Balanced, EACH_ONCE, Operator } from '../support/balanced.ts';
import { Cluster, noCluster } from '../support/cluster.ts';
import { KEY } from '../support/edge.ts';
import { newJti, newSigner, type Signer, signCall } from '../support/fleet-hand.ts';
import type { HubAnswer } from '../support/hub.ts';
import type { Machine } from '../support/killable.ts';
import { TestNode } from '../support/node.ts';
import { SpeakingNode } from '../support/speaking-node.ts';

const NODES = 12;
/** All is well again so long after a machine has died, and after it is back. */
const BACK_MS = 60_000;
const CALL_MS = 5000;
const CALL_EVERY_MS = 200;
/** A token lasts 15 min. */
const TOKEN_MS = 5 * 60_000;
const LIST_EVERY_MS = 500;
const missing = noCluster();

type Outcome = 'answered' | 'not sent' | 'not known';

/** Somebody who has the list open, and calls one node after the other. */
class Caller {
  readonly outcomes = new Map<string, { readonly node: SpeakingNode; readonly outcome: Outcome }>();
  /** Lists that were whole, and that were not. */
  readonly lists = { whole: 0, other: 0 };
  readonly #hubs: Balanced;
  readonly #nodes: readonly SpeakingNode[];
  readonly #signer: Signer;
  readonly #ended = new AbortController();
  readonly #work: Promise<unknown>;
  #token: { readonly text: string; readonly at: number } | null = null;

  constructor(hubs: Balanced, nodes: readonly SpeakingNode[], signer: Signer) {
    this.#hubs = hubs;
    this.#nodes = nodes;
    this.#signer = signer;
    this.#work = Promise.all([this.#callAll(), this.#list()]);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  /** Whether all nodes are there, as the list shows them. */
  async isListed(): Promise<boolean> {
    const { body } = await this.#hubs.call('GET', '/v1/nodes?limit=100');
    const nodes = (body['nodes'] ?? []) as readonly { online: boolean; status: unknown }[];
    return nodes.length === NODES + 1 && nodes.every(({ online, status }) => online && status !== null);
  }

  async call(node: SpeakingNode): Promise<Outcome> {
    const jti = newJti();
    const { outcome } = await this.#carried(node.id, jti, 'bootboot.1');
    this.outcomes.set(jti, { node, outcome });
    return outcome;
  }

  /** What a real node answers, which wants its own nonce. @throws Error where it does not */
  async callReal(id: string): Promise<void> {
    const { body: entry } = await this.#hubs.call('GET', `/v1/nodes/${id}`);
    const nonce = (entry['status'] as { readonly nonce?: string } | null)?.nonce ?? '';
    const { body } = await this.#carried(id, newJti(), nonce);
    const payload = String(body['reply']).split('.')[1] ?? '';
    const { status } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { status: number };
    if (status !== 200) throw new Error(JSON.stringify(body));
  }

  /** Calls by what was said of them, and those of which that was wrong. */
  get tally(): Readonly<Record<Outcome | 'lost' | 'twice', number>> {
    const all = [...this.outcomes].map(([jti, { node, outcome }]) => ({
      outcome,
      times: node.calls.get(jti) ?? 0,
    }));
    const count = (fits: (each: (typeof all)[number]) => boolean): number => all.filter(fits).length;
    return {
      answered: count(({ outcome }) => outcome === 'answered'),
      'not sent': count(({ outcome }) => outcome === 'not sent'),
      'not known': count(({ outcome }) => outcome === 'not known'),
      // Said to be done and was not, or the other way round.
      lost: count(
        ({ outcome, times }) =>
          (outcome === 'answered' && times === 0) || (outcome === 'not sent' && times > 0),
      ),
      twice: count(({ times }) => times > 1),
    };
  }

  async #callAll(): Promise<void> {
    const under = new Set<Promise<unknown>>();
    for (let turn = 0; !this.#ended.signal.aborted; turn++) {
      const node = this.#nodes[turn % this.#nodes.length];
      if (node === undefined) return;
      const call = this.call(node).finally(() => under.delete(call));
      under.add(call);
      await delay(CALL_EVERY_MS);
      if (under.size >= this.#nodes.length) await Promise.race(under);
    }
    await Promise.all(under);
  }

  async #list(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const isWhole = await this.isListed().catch(() => false);
      this.lists[isWhole ? 'whole' : 'other']++;
      await delay(LIST_EVERY_MS);
    }
  }

  async #carried(
    node: string,
    jti: string,
    nonce: string,
  ): Promise<{ readonly outcome: Outcome; readonly body: HubAnswer['body'] }> {
    let jws: string;
    try {
      const statement = { method: 'GET', path: '/api/status', node, nonce, jti } as const;
      jws = await signCall({ signer: this.#signer, token: await this.#current() }, statement);
    } catch {
      return { outcome: 'not sent', body: {} }; // no hub has answered
    }
    try {
      const asked = { call: jws, timeout_ms: CALL_MS };
      const { status, body } = await this.#hubs.call('POST', `/v1/nodes/${node}/calls`, asked, 2 * CALL_MS);
      // A hub that refuses says so, or has not sent it.
      const refused = body['sent'] === true ? 'not known' : 'not sent';
      return { outcome: status === 200 ? 'answered' : refused, body };
    } catch {
      return { outcome: 'not known', body: {} }; // the connection has ended
    }
  }

  async #current(): Promise<string> {
    const now = performance.now();
    if (this.#token === null || now - this.#token.at > TOKEN_MS) {
      const { status, body } = await this.#hubs.call('POST', '/v1/me/token', { key: this.#signer.jwk });
      if (status !== 200) throw new Error(`no token: ${status}`);
      this.#token = { text: String(body['token']), at: now };
    }
    return this.#token.text;
  }
}

describe(`a cluster of machines${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(5 * 60_000);
  let cluster: Cluster;
  let nodes: readonly SpeakingNode[];
  let operator: Operator;
  let caller: Caller;
  /** A node as it is: all its processes, with a simulated vehicle. */
  let real: TestNode;
  let realId: string;
  const table: string[] = [];

  before(async function () {
    if (missing !== null) return this.skip();
    cluster = await Cluster.start();
    const made: SpeakingNode[] = [];
    for (let n = 0; n < NODES; n++) made.push(new SpeakingNode(await cluster.first.enroll(`drone-${n}`)));
    nodes = made;
    real = await TestNode.start({ pairing: { key: KEY } });
    const code = await cluster.first.call('POST', '/v1/codes');
    const joins = { hub: cluster.url, code: code.body['code'] };
    const { status, body } = await real.post('/api/fleet/enroll', joins, { 'x-svc-key': KEY });
    expect(status, JSON.stringify(body)).to.equal(200);
    realId = String(body['node']);
    operator = new Operator(cluster.balanced);
    caller = new Caller(cluster.balanced, nodes, await newSigner());
    await well();
    await cluster.whole();
  });
  after(async () => {
    if (table.length > 0)
      console.log(
        [
          'machine killed; all well without it, s; all well with it again, s; events, lost, twice; calls answered, not sent, not known, lost, twice',
          ...table,
        ].join('\n'),
      );
    operator?.end();
    await caller?.end();
    for (const node of nodes ?? []) node.end();
    await real?.stop();
    await cluster?.end();
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed')
      console.log(cluster?.said(), cluster?.hubs.map(({ stderr }) => stderr.slice(-3000)).join('\n'));
  });

  /** Events of each node are stored, each is there for all to see, and each answers a call. @returns after how long, s */
  async function well(): Promise<string> {
    const begun = performance.now();
    const left = (): number => BACK_MS - (performance.now() - begun);
    const wanted = nodes.map(({ acknowledged }) => acknowledged + 3);
    await askAgain(
      'each node has events acknowledged',
      async () => nodes.map(({ acknowledged }) => acknowledged),
      (now) => now.every((seq, at) => seq >= (wanted[at] ?? 0)),
      left(),
    );
    await worksAtLast(
      'the list is whole',
      async () => {
        if (!(await caller.isListed())) throw new Error('it is not');
      },
      left(),
    );
    await Promise.all(
      nodes.map(async (node) =>
        askAgain(
          `${node.id} answers`,
          async () => caller.call(node),
          (said) => said === 'answered',
          left(),
        ),
      ),
    );
    await worksAtLast('the real node answers', async () => caller.callReal(realId), left());
    return ((performance.now() - begun) / 1000).toFixed(1);
  }

  /** The real node's own events: each once and in order, in each of its streams. */
  function realOnce(): void {
    const streams = Map.groupBy(
      operator.events.filter(({ node }) => node === realId),
      ({ stream }) => stream,
    );
    expect([...streams]).not.to.deep.equal([]);
    for (const events of streams.values()) {
      const seqs = events.map(({ seq }) => seq);
      expect(seqs).to.deep.equal(Array.from({ length: seqs.length }, (_, n) => (seqs[0] ?? 0) + n));
    }
  }

  /** Kills it, until all is well without it, and starts it again. @param isAlone nothing goes on without it */
  async function dies(machine: Machine, what: string, isAlone = false): Promise<void> {
    const before = { ...caller.tally, events: operator.events.length };
    await machine.kill();
    let without = '–';
    const begun = { at: 0 };
    try {
      if (!isAlone) without = await well();
    } finally {
      begun.at = performance.now();
      await machine.start();
    }
    await well();
    await cluster.whole();
    const after = ((performance.now() - begun.at) / 1000).toFixed(1);
    const told = await operator.readAllOf(nodes);
    realOnce();
    const now = caller.tally;
    const calls = (['answered', 'not sent', 'not known', 'lost', 'twice'] as const).map(
      (name) => now[name] - before[name],
    );
    table.push(
      [what, without, after, operator.events.length - before.events, told.lost, told.twice, ...calls].join(
        '; ',
      ),
    );
    expect(told).to.deep.equal(EACH_ONCE);
    expect(now.lost, 'calls lost').to.equal(0);
    expect(now.twice, 'calls done twice').to.equal(0);
    expect(Number(after)).to.be.below(BACK_MS / 1000);
  }

  it('of the brokers a node has what is its own, and nothing of it stays when it is removed', async () => {
    const guest = await cluster.first.enroll('guest');
    const { fleet, ca, certificate: cert, broker } = guest.enrolled;
    const [other = ''] = nodes.map(({ id }) => id);
    const own = (what: NodeTopic): string => topics.told(fleet, 'guest', what);
    const reader = await cluster.asHub();
    const heard: string[] = [];
    reader.on('message', (topic, payload, { retain }) => {
      if (payload.toString().includes('"guest"')) heard.push(`${topic}${retain ? ' kept' : ''}`);
    });
    await reader.subscribeAsync(`svc/1/${fleet}/#`, { qos: 1, rap: true });
    const options = { ca, cert, key: guest.tlsKey, protocolVersion: 5, reconnectPeriod: 0 } as const;
    const will = {
      topic: topics.told(fleet, other, 'presence'),
      payload: Buffer.from('{}'),
      qos: 1,
    } as const;
    for (const bad of [
      { clientId: other },
      { clientId: 'guest', will },
      { clientId: 'guest', protocolVersion: 4 },
    ] as const)
      expect(
        await connectAsync(broker, { ...options, ...bad }, false).catch(String),
        JSON.stringify(bad),
      ).to.be.a('string');

    const client = await cluster.first.connect(guest);
    const say = async (topic: string, retain: boolean): Promise<unknown> =>
      client.publishAsync(topic, JSON.stringify({ by: 'guest' }), { qos: 1, retain }).catch(String);
    const strange: readonly (readonly [string, boolean])[] = [
      [topics.told(fleet, other, 'status'), false],
      [topics.call(fleet, other, 'mc_000000000001'), false],
      [topics.call(fleet, other, 'op_000000000001'), false],
      [topics.ack(fleet, other), true],
      [topics.policy(fleet), true],
      [own('event'), true],
      [own('telemetry'), true],
      [own('picture'), true],
      [topics.reply(fleet, 'mc_000000000001', 'guest'), true],
      [`svc/1/${fleet}/x/reply/${other}`, false],
    ];
    for (const [topic, retain] of strange) await say(topic, retain);
    for (const what of ['presence', 'status'] as const) await say(own(what), true);
    await say(own('telemetry'), false);
    await askAgain(
      'what is its own is heard',
      async () => heard,
      (now) => now.includes(own('telemetry')),
    );
    expect(heard).to.have.members([`${own('presence')} kept`, `${own('status')} kept`, own('telemetry')]);

    const hears = async (filter: string): Promise<boolean> =>
      client.subscribeAsync(filter, { qos: 1 }).then(
        () => true,
        () => false,
      );
    for (const filter of [
      '#',
      `svc/1/${fleet}/#`,
      topics.ack(fleet, other),
      topics.personCalls(fleet, other),
      `$share/g/${topics.ack(fleet, other)}`,
    ])
      expect(await hears(filter), filter).to.equal(false);
    const many: boolean[] = [];
    for (let n = 0; n < 40; n++) many.push(await hears(`svc/1/${fleet}/guest/call/mc_${n}`));
    expect(many.filter((isTaken) => isTaken).length).to.be.within(1, 16);

    const cut = new Promise<void>((resolve) => {
      client.once('close', () => resolve());
    });
    expect((await cluster.first.call('DELETE', '/v1/nodes/guest')).status).to.equal(200);
    await cut;
    const kept: string[] = [];
    reader.on('message', (topic, payload, { retain }) => {
      if (retain && payload.length > 0) kept.push(topic);
    });
    await reader.unsubscribeAsync(`svc/1/${fleet}/#`);
    await askAgain(
      'the brokers keep nothing of it',
      async () => {
        kept.length = 0;
        await reader.subscribeAsync(
          [`svc/1/${fleet}/guest/#`, `svc/1/${fleet}/+/reply/guest`, topics.told(fleet, other, 'presence')],
          { qos: 1 },
        );
        await reader.unsubscribeAsync([
          `svc/1/${fleet}/guest/#`,
          `svc/1/${fleet}/+/reply/guest`,
          topics.told(fleet, other, 'presence'),
        ]);
        return [...kept];
      },
      (found) => found.length === 1,
    );
    await reader.endAsync();
  });

  for (const name of ['hub 1', 'hub 2', 'hub 3', 'broker 1', 'broker 2', 'broker 3'])
    it(`${name} dies and comes back`, async () => dies(cluster.machine(name), name));

  for (const turn of ['', ', again'])
    it(`the database that is written dies${turn}: the other takes over, and has it as its standby`, async () => {
      const name = await cluster.primary();
      await dies(cluster.machine(name), `${name}, written${turn}`);
      expect(await cluster.primary()).not.to.equal(name);
    });

  it('the database that only reads dies and comes back', async () => {
    const name = (await cluster.primary()) === 'database 1' ? 'database 2' : 'database 1';
    await dies(cluster.machine(name), `${name}, standby`);
  });

  for (const name of ['etcd 1', 'etcd 2', 'etcd 3'])
    it(`${name} dies and comes back`, async () => dies(cluster.machine(name), name));

  it('the balancer dies and comes back', async () => dies(cluster.machine('balancer'), 'balancer', true));
});
