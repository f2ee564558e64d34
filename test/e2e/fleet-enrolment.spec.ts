import { existsSync } from 'node:fs';
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { HUB_ID, topics } from '../../shared/fleet/topics.ts';
import { KEY } from '../support/edge.ts';
import { FakeHub } from '../support/fake-hub.ts';
import { Broker, noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const withKey = { 'x-svc-key': KEY };

describe('a node joins a fleet and leaves it', function () {
  this.timeout(120_000);
  let dir: string;
  let broker: Broker;
  let hub: FakeHub;
  let node: TestNode;
  let ear: MqttClient;
  const heard: { readonly topic: string; readonly body: Record<string, unknown> }[] = [];
  let wake: () => void = () => undefined;

  before(async function () {
    if (noMosquitto() !== null) this.skip();
    dir = await tempDir();
    broker = await Broker.start(dir);
    hub = await FakeHub.start({ broker });
    ear = await broker.client(HUB_ID);
    ear.on('message', (topic, payload) => {
      heard.push({ topic, body: JSON.parse(payload.toString()) as Record<string, unknown> });
      wake();
    });
    for (const what of ['presence', 'event', 'telemetry'] as const)
      await ear.subscribeAsync(topics.allTold(broker.fleet, what), { qos: 1 });
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => {
    await node?.stop();
    await ear?.endAsync();
    await hub?.stop();
    await broker?.kill();
    if (dir !== undefined) await removeDir(dir);
  });

  const hears = async (fits: (topic: string, body: Record<string, unknown>) => boolean): Promise<void> => {
    while (!heard.some(({ topic, body }) => fits(topic, body)))
      await new Promise<void>((resolve) => (wake = resolve));
  };
  const link = async (fits: (link: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
    for (;;) {
      const { body } = await node.json('/api/fleet', { headers: withKey });
      const found = body['link'] as Record<string, unknown> | null;
      if (found !== null && fits(found)) return found;
    }
  };
  const fleetState = (): string | undefined => node.services.find(({ name }) => name === 'svc-fleet')?.state;

  it('joins: svc-fleet starts, the broker knows it, and the node says how far behind its hub is', async () => {
    expect(fleetState()).to.be.oneOf([undefined, 'stopped']);
    const { status, body } = await node.post(
      '/api/fleet/enroll',
      { hub: hub.url, code: hub.code() },
      withKey,
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    const own = topics.told(broker.fleet, String(body['node']), 'presence');
    await hears((topic, { online }) => topic === own && online === true);
    await node.until(() => fleetState() === 'running');
    const found = await link(({ connected, events_behind: behind }) => connected === true && behind !== 0);
    expect(found).to.include({ problem: null, policy_seq: 1, acknowledged_at: null });
    expect(found['oldest_event_at']).to.be.a('number');
  });

  it('is there again after a restart of the node, and of svc-control alone', async () => {
    await node.killAndAwaitSuccessor('svc-control');
    await link(({ connected, policy_seq: seq }) => connected === true && seq === 1);
    await node.killAndAwaitSuccessor('svc-fleet');
    await link(({ connected }) => connected === true);
  });

  it('tells what the config says, once svc-fleet was restarted', async () => {
    const put = async (key: string, value: unknown): Promise<void> => {
      const { body } = await node.json('/api/config', {
        method: 'PUT',
        headers: { ...withKey, 'content-type': 'application/json' },
        body: JSON.stringify({ key, value }),
      });
      expect(body['restart_required'], JSON.stringify(body)).to.include('svc-fleet');
      await node.post('/api/services/svc-fleet/restart', {}, withKey);
    };
    await put('fleet.telemetry_fields', ['mode', 'armed']);
    await hears((topic, body) => topic.endsWith('/telemetry') && Object.keys(body).length === 2);
    await put('fleet.telemetry_hz', 10);
    for (;;) {
      heard.length = 0;
      const begun = performance.now();
      await hears(() => heard.filter(({ topic }) => topic.endsWith('/telemetry')).length === 4);
      if (performance.now() - begun < 1000) return; // three times as often as before
    }
  });

  it('leaves while the hub is away: svc-fleet ends, the broker is told, nothing stays', async () => {
    await hub.stop();
    heard.length = 0;
    const { status, body } = await node.json('/api/fleet/enrollment', { method: 'DELETE', headers: withKey });
    expect([status, body]).to.deep.equal([200, { enrolled: false, fleet: broker.fleet, hub_told: false }]);
    await hears((topic, { online }) => topic.endsWith('/presence') && online === false);
    await node.until(() => fleetState() === 'stopped');
    const { fleet, fleetPolicy, fleetQueue } = node.paths;
    for (const file of [fleet, fleetPolicy, fleetQueue]) expect(existsSync(file), file).to.equal(false);
    expect(node.stderr).to.not.match(/"level":"error"/);
  });
});
