import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { connectAsync, type MqttClient } from 'mqtt';
import { NodeQuota } from '../../bin/hub/fleet/node-quota.ts';
import { readAuthority } from '../../bin/hub/keys/certificates.ts';
import { placesIn } from '../../bin/hub/places.ts';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { NODE_TOPICS, type NodeTopic, topics } from '../../shared/fleet/topics.ts';
import { askAgain } from '../support/ask-again.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const missing = noMosquitto();

/** A node that has its certificate and does what no node does, at a Mosquitto of the hub's own. */
describe(`what one node can do to the broker and the hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(60_000);
  let hub: TestHub;
  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.start();
  });
  after(async () => hub?.stop());

  const alarmOf = async (id: string): Promise<string> =>
    JSON.stringify((await hub.call('GET', `/v1/nodes/${id}`)).body['alarm']);
  const alarmed = async (id: string, text: string): Promise<string> =>
    askAgain(
      `an alarm: ${text}`,
      async () => alarmOf(id),
      (alarm) => alarm.includes(text),
    );
  const ended = async (client: MqttClient): Promise<void> =>
    new Promise((resolve) => client.once('close', resolve));
  const say = async (
    { id, enrolled: { fleet } }: EnrolledNode,
    client: MqttClient,
    what: 'status',
    body: object,
  ) => client.publishAsync(topics.told(fleet, id, what), JSON.stringify(body), { qos: 1 });
  /** What the broker keeps of this node, as seen by somebody who may read everything. */
  async function kept({ id, enrolled: { fleet, broker } }: EnrolledNode): Promise<readonly string[]> {
    const { certificate: ca, key: caKey } = await readAuthority(placesIn(hub.folder));
    const key = newCertificateKey();
    const { pem } = await certificateRequest(key);
    const cert = await issueCertificate(
      { certificate: ca, key: caKey },
      pem,
      { client: 'hub-9' },
      Date.now(),
    );
    const found: string[] = [];
    const client = await connectAsync(broker, { ca, cert, key, clientId: 'hub-9', protocolVersion: 5 });
    client.on('message', (topic, _payload, { retain }) => {
      if (retain) found.push(topic);
    });
    await client.subscribeAsync([...topics.allOf(fleet, id)], { qos: 0 });
    await client.endAsync();
    return found.toSorted();
  }

  it('whoever subscribes to what is not its own is thrown off, and named; the others notice nothing', async () => {
    const [bad, good] = [await hub.enroll('asks-much'), await hub.enroll('asks-little')];
    const [greedy, modest] = [await hub.connect(bad), await hub.connect(good)];
    const { fleet } = bad.enrolled;
    let isThere = true;
    modest.on('close', () => {
      isThere = false;
    });
    for (const client of [greedy, modest]) {
      const { id } = client === greedy ? bad : good;
      await client.subscribeAsync(
        [
          topics.policy(fleet),
          topics.ack(fleet, id),
          topics.watch(fleet, id),
          topics.told(fleet, id, 'presence'),
          topics.personCalls(fleet, id),
          topics.machineCalls(fleet, id),
        ],
        { qos: 1 },
      );
    }
    const over = ended(greedy);
    const asked = Array.from({ length: 2525 }, (_, n) => `${n}-${'y'.repeat(38_000)}`);
    let granted = 0;
    for (let at = 0; at < asked.length && greedy.connected; at += 15) {
      const some = greedy.subscribeAsync(asked.slice(at, at + 15), { qos: 0 });
      granted += await Promise.race([
        some.then(
          ({ length }) => length,
          () => 0,
        ),
        over.then(() => 0),
      ]);
    }
    await over;
    await alarmed(bad.id, 'not its own');
    expect(granted, 'subscriptions that it got').to.be.below(asked.length / 2);
    for (const foreign of ['#', `svc/1/${fleet}/+/status`, '$SYS/#', `svc/1/${fleet}/${bad.id}/call/x`]) {
      const again = await hub.connect(bad);
      const off = ended(again);
      again.subscribe(foreign, { qos: 0 }, () => undefined);
      await off;
    }
    expect(isThere).to.equal(true);
    await modest.endAsync();
  });

  it('a node that tells its status without end is named, and the hub goes on with the others', async () => {
    const [loud, quiet] = [await hub.enroll('status-loud'), await hub.enroll('status-quiet')];
    const [flood, other] = [await hub.connect(loud), await hub.connect(quiet)];
    for (let n = 1; n <= 1000; n++) {
      const told = say(loud, flood, 'status', { mode: `M${n}` });
      if (n % 100 === 0) await told;
    }
    await say(quiet, other, 'status', { mode: 'LOITER' });
    await alarmed(loud.id, 'more than the hub takes');
    const modeOf = async (id: string): Promise<string> => {
      const { status } = (await hub.call('GET', `/v1/nodes/${id}`)).body;
      return String((status as { mode?: string } | null)?.mode);
    };
    await askAgain(
      'the other one',
      async () => modeOf(quiet.id),
      (mode) => mode === 'LOITER',
    );
    expect(await alarmOf(quiet.id)).to.equal('null');
    // Cleared, it is said again where it goes on.
    await hub.call('DELETE', `/v1/nodes/${loud.id}/alarm`);
    for (let n = 1; n <= 300; n++) void say(loud, flood, 'status', { mode: 'AGAIN' });
    await alarmed(loud.id, 'more than the hub takes');
    await Promise.all([flood.endAsync(true), other.endAsync()]);
  });

  it('of each kind the hub takes what a node may tell in a minute, and no more; each kind has its own', () => {
    const clock = { now: 0 };
    const quota = new NodeQuota(() => clock.now);
    const taken = (what: NodeTopic, bytes: number, node = 'a'): number =>
      Array.from({ length: 5000 }, () => quota.take(node, what, bytes)).filter(Boolean).length;
    const most = { presence: 60, status: 240, telemetry: 1200, picture: 600, event: 3000 } as const;
    for (const what of NODE_TOPICS) expect(taken(what, 100), what).to.equal(most[what]);
    expect(taken('status', 60_000, 'b'), 'by their bytes').to.equal(70);
    clock.now = 60_000;
    expect(taken('status', 100)).to.equal(240);
  });

  it('what a node has the broker keep beside presence and status is removed, and it is named', async () => {
    const node = await hub.enroll('keeps-much');
    const client = await hub.connect(node);
    const { fleet } = node.enrolled;
    const body = JSON.stringify({ text: 'x'.repeat(50_000) });
    for (const topic of [
      topics.told(fleet, node.id, 'event'),
      topics.reply(fleet, 'op_0123456789abcdef', node.id),
    ])
      await client.publishAsync(topic, body, { qos: 1, retain: true });
    await alarmed(node.id, 'not kept');
    await askAgain(
      'nothing is kept',
      async () => kept(node),
      (topicsOf) => topicsOf.length === 0,
    );
    await client.endAsync();
  });

  it('a node that is removed leaves nothing at the broker, and is thrown off', async () => {
    const node = await hub.enroll('leaves');
    const { body } = await hub.call('POST', '/v1/credentials', {
      body: { label: 'laptop', scopes: ['read'] },
    });
    const machine = String(body['id']);
    const client = await hub.connect(node);
    const { fleet } = node.enrolled;
    const all = [
      ...NODE_TOPICS.map((what) => topics.told(fleet, node.id, what)),
      topics.reply(fleet, machine, node.id),
      topics.reply(fleet, 'op_0123456789abcdef', node.id),
    ];
    for (const topic of all)
      if (!topic.endsWith('/event')) await client.publishAsync(topic, '{"a":1}', { qos: 1, retain: true });
    expect(await kept(node)).to.include(topics.told(fleet, node.id, 'telemetry'));
    const over = ended(client);
    expect((await hub.call('DELETE', `/v1/nodes/${node.id}`)).status).to.equal(200);
    await over;
    await askAgain(
      'nothing is kept',
      async () => kept(node),
      (topicsOf) => topicsOf.length === 0,
    );
  });

  it('a machine calls from the moment that it has its credential', async () => {
    const rules = async (): Promise<string> => readFile(placesIn(hub.folder).acl, 'utf8');
    const { body } = await hub.call('POST', '/v1/credentials', { body: { label: 'new', scopes: ['read'] } });
    const id = String(body['id']);
    expect(await rules()).to.include(`/+/call/${id}\n`);
    await hub.call('DELETE', `/v1/credentials/${id}`);
    const then = await rules();
    expect(then).to.not.include(`/+/call/${id}\n`);
    expect(then).to.include(`user ${id}\ntopic deny #`);
  });
});
