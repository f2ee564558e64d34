import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { MAX_PACKET_BYTES } from '../../shared/fleet/told.ts';
import { NODE_TOPICS, topics } from '../../shared/fleet/topics.ts';
import { Broker, noMosquitto } from '../support/mosquitto.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const FLEET = 'f-test';
const CALLER = 'mc_0123456789abcdef';
const OTHER_CALLER = 'mc_fedcba9876543210';
/** A person at the hub's page, for whom only the hub calls. */
const PERSON = 'op_0123456789abcdef';
const missing = noMosquitto();
/** Of MQTT 5: not authorized. */
const NOT_AUTHORIZED = 135;

/** A real broker with the hub's own rules, seen by a client that has a certificate. */
describe(`the broker's rules${missing === null ? '' : ` (${missing})`}`, () => {
  let folder: string;
  let broker: Broker;
  let hub: MqttClient;
  let node: MqttClient;
  let caller: MqttClient;
  before(async function () {
    if (missing !== null) this.skip();
    folder = await tempDir();
    broker = await Broker.start(folder, FLEET);
    [hub, node, caller] = await Promise.all([
      broker.client('hub'),
      broker.client('node-a'),
      broker.client(CALLER),
    ]);
  });
  after(async () => {
    for (const client of [hub, node, caller]) client?.end(true);
    await broker?.kill();
    if (folder !== undefined) await removeDir(folder);
  });

  /** The reason with which the broker refuses a message; 0 if it takes it. */
  async function refusal(client: MqttClient, topic: string, retain = false): Promise<number> {
    return new Promise((resolve) => {
      client.publish(topic, '{}', { qos: 1, retain }, (error) =>
        resolve(error !== null && error !== undefined && 'code' in error ? error.code : 0),
      );
    });
  }

  /** What this client hears of these topics while all of them are published and, at the end, one that it may hear. */
  async function heardOf(client: MqttClient, wanted: string, published: readonly string[], known: string) {
    const found: string[] = [];
    const end = Promise.withResolvers<void>();
    const listen = (topic: string): void => {
      if (topic === known) end.resolve();
      else found.push(topic);
    };
    client.on('message', listen);
    await client.subscribeAsync([wanted, known], { qos: 1 });
    for (const topic of [...published, known]) await hub.publishAsync(topic, '{}', { qos: 1 });
    await end.promise;
    client.off('message', listen);
    await client.unsubscribeAsync([wanted, known]);
    return found;
  }

  it('a node says what is its own, and nothing in the name of another', async () => {
    for (const what of NODE_TOPICS) {
      expect(await refusal(node, topics.told(FLEET, 'node-a', what)), what).to.equal(0);
      expect(await refusal(node, topics.told(FLEET, 'node-b', what)), what).to.equal(NOT_AUTHORIZED);
      expect(await refusal(node, topics.told('f-other', 'node-a', what)), what).to.equal(NOT_AUTHORIZED);
    }
    expect(await refusal(node, topics.reply(FLEET, CALLER, 'node-a'))).to.equal(0);
    expect(await refusal(node, topics.reply(FLEET, PERSON, 'node-a'))).to.equal(0);
    expect(await refusal(node, topics.reply(FLEET, CALLER, 'node-b'))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(node, topics.reply(FLEET, PERSON, 'node-b'))).to.equal(NOT_AUTHORIZED);
  });

  it('a node writes to a few topics that are known by name, so that the broker keeps little of it, whatever it makes up', async () => {
    const made = ['x1', 'mc_nobody0001', 'node-b', 'op_0123456789abcdef', 'hub-2'];
    const root = `svc/1/${FLEET}`;
    for (const to of made)
      expect(await refusal(node, `${root}/${to}/reply/node-a`, true), to).to.equal(NOT_AUTHORIZED);
    for (const kind of ['call', 'person', 'reply', 'status', 'x', 'status/x'])
      expect(await refusal(node, `${root}/node-b/${kind}/node-a`, true), kind).to.equal(NOT_AUTHORIZED);
    for (const what of ['x', 'status/x', 'policy', 'reply', 'reply/x', 'call/node-a'])
      expect(await refusal(node, `${root}/node-a/${what}`, true), what).to.equal(NOT_AUTHORIZED);
  });

  it('nobody sends a message that is longer than the longest of ours', async () => {
    const long = await broker.client('node-l');
    const ended = new Promise<void>((resolve) => long.once('close', resolve));
    const topic = topics.told(FLEET, 'node-l', 'status');
    long.publish(topic, Buffer.alloc(MAX_PACKET_BYTES), { qos: 0 }, () => undefined);
    await ended;
  });

  it('a node neither acknowledges for the hub nor makes policy', async () => {
    const hubs = [topics.ack(FLEET, 'node-a'), topics.ack(FLEET, 'node-b'), topics.policy(FLEET)];
    hubs.push(
      topics.watch(FLEET, 'node-a'),
      topics.watch(FLEET, 'node-b'),
      topics.call(FLEET, 'node-a', PERSON),
    );
    for (const topic of hubs) expect(await refusal(node, topic, true), topic).to.equal(NOT_AUTHORIZED);
  });

  it('a node calls nobody: not in the name of a caller, and not in its own', async () => {
    expect(await refusal(node, topics.call(FLEET, 'node-b', 'node-a'))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(node, topics.call(FLEET, 'node-a', 'node-a'))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(node, topics.call(FLEET, 'node-b', PERSON))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(node, topics.call(FLEET, 'node-b', CALLER))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(node, topics.call(FLEET, 'node-b', 'hub'))).to.equal(NOT_AUTHORIZED);
  });

  it('a node hears its own calls, acknowledgements and the policy, and nothing of another, whatever it asks for', async () => {
    const others = [
      ...NODE_TOPICS.map((what) => topics.told(FLEET, 'node-b', what)),
      topics.ack(FLEET, 'node-b'),
      topics.watch(FLEET, 'node-b'),
      topics.call(FLEET, 'node-b', CALLER),
      topics.reply(FLEET, CALLER, 'node-b'),
    ];
    const known = topics.policy(FLEET);
    expect(await heardOf(node, '#', others, known)).to.deep.equal([]);
    const own = [
      topics.call(FLEET, 'node-a', CALLER),
      topics.call(FLEET, 'node-a', PERSON),
      topics.ack(FLEET, 'node-a'),
      topics.watch(FLEET, 'node-a'),
    ];
    expect(await heardOf(node, `svc/1/${FLEET}/node-a/#`, own, known)).to.deep.equal(own);
  });

  it('a caller calls in its own name, hears its own replies, and says nothing as a node', async () => {
    expect(await refusal(caller, topics.call(FLEET, 'node-a', CALLER))).to.equal(0);
    expect(await refusal(caller, topics.call(FLEET, 'node-a', OTHER_CALLER))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(caller, topics.told(FLEET, 'node-a', 'status'))).to.equal(NOT_AUTHORIZED);
    for (const what of NODE_TOPICS)
      expect(await refusal(caller, topics.told(FLEET, CALLER, what), true), what).to.equal(NOT_AUTHORIZED);
    expect(await refusal(caller, topics.reply(FLEET, OTHER_CALLER, 'node-a'))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(caller, topics.policy(FLEET), true)).to.equal(NOT_AUTHORIZED);
    expect(await refusal(caller, topics.watch(FLEET, 'node-a'))).to.equal(NOT_AUTHORIZED);
    expect(await refusal(caller, topics.call(FLEET, 'node-a', PERSON))).to.equal(NOT_AUTHORIZED);
    const known = topics.reply(FLEET, CALLER, 'node-a');
    const others = [
      topics.reply(FLEET, OTHER_CALLER, 'node-a'),
      topics.reply(FLEET, PERSON, 'node-a'),
      topics.watch(FLEET, 'node-a'),
      topics.told(FLEET, 'node-a', 'telemetry'),
      topics.call(FLEET, 'node-a', OTHER_CALLER),
    ];
    expect(await heardOf(caller, '#', others, known)).to.deep.equal([]);
  });

  it('nobody connects without a certificate of the fleet, or with one of another authority', async () => {
    const { ca } = await broker.identity('node-c');
    const without = await broker.client('node-c', { cert: '', key: '' }).catch((error: Error) => error);
    expect(without).to.be.instanceOf(Error);
    const elsewhere = await tempDir();
    const other = await Broker.start(elsewhere, FLEET);
    const { cert, key } = await other.identity('node-c');
    const foreign = await broker.client('node-c', { ca, cert, key }).catch((error: Error) => error);
    expect(foreign).to.be.instanceOf(Error);
    await other.kill();
    await removeDir(elsewhere);
  });

  it('nobody takes the id of another: a client has that of its certificate, whatever it asks for', async () => {
    const ended: string[] = [];
    for (const [name, client] of Object.entries({ hub, node, caller }))
      client.on('close', () => ended.push(name));
    for (const asked of ['hub', 'node-a', CALLER])
      for (const username of [undefined, asked]) {
        const thief = await broker.client('node-t', {
          clientId: asked,
          ...(username === undefined ? {} : { username }),
        });
        expect(await refusal(thief, topics.told(FLEET, 'node-t', 'status')), asked).to.equal(0);
        expect(await refusal(thief, topics.told(FLEET, 'node-a', 'status')), asked).to.equal(NOT_AUTHORIZED);
        await thief.endAsync();
      }
    expect(ended).to.deep.equal([]);
    // Each still has the connection that it began with.
    expect(await refusal(hub, topics.policy(FLEET), true)).to.equal(0);
    expect(await refusal(node, topics.told(FLEET, 'node-a', 'status'))).to.equal(0);
    expect(await refusal(caller, topics.call(FLEET, 'node-a', CALLER))).to.equal(0);
    expect(ended).to.deep.equal([]);
    // The id is really its own: a second connection of the same certificate ends the first.
    const first = await broker.client('node-t', { clientId: 'one' });
    const over = new Promise<void>((resolve) => first.once('close', resolve));
    const second = await broker.client('node-t', { clientId: 'two' });
    await over;
    await second.endAsync();
  });

  it('one that is denied is cut off within 5 s, though it stays connected, and the others are not', async () => {
    const denied = await broker.client('node-d');
    expect(await refusal(denied, topics.told(FLEET, 'node-d', 'status'))).to.equal(0);
    const at = performance.now();
    await broker.deny(['node-d']);
    while ((await refusal(denied, topics.told(FLEET, 'node-d', 'status'))) !== NOT_AUTHORIZED)
      expect(performance.now() - at).to.be.lessThan(15_000);
    const heard: string[] = [];
    denied.on('message', (topic) => heard.push(topic));
    await denied.subscribeAsync('#', { qos: 1 }).catch(() => undefined);
    await hub.publishAsync(topics.call(FLEET, 'node-d', CALLER), '{}', { qos: 1 });
    expect(await heardOf(node, '#', [], topics.policy(FLEET))).to.deep.equal([]);
    expect(heard).to.deep.equal([]);
    expect(await refusal(node, topics.told(FLEET, 'node-a', 'status'))).to.equal(0);
    denied.end(true);
    await broker.deny([]);
  });
});
