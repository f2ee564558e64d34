import { expect } from 'chai';
import type { FleetClient } from '../../front/fleet/fleet-client.ts';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import { needs } from '../support/needs.ts';
import { CALLER, NODE, Rig } from './rig.ts';

describe('events of a node', () => {
  let rig: Rig;

  before(function () {
    needs(this, 'mosquitto');
  });
  beforeEach(async () => {
    rig = await Rig.start();
  });
  afterEach(async () => rig.stop());

  const add = (client: FleetClient, n: number): void =>
    client.append([{ at: n, kind: 'vehicle.mode', detail: { n } }]);
  const stored = (): readonly unknown[] => rig.hub.stored.map(({ detail }) => detail['n']);

  it('arrive once and in order across the death of the broker', async () => {
    const queue = rig.queue();
    const client = rig.client({ queue });
    for (let n = 0; n < 10; n++) add(client, n);
    await rig.hub.until(() => rig.hub.stored.length === 10);
    await rig.broker.kill();
    await rig.hub.disconnect();
    for (let n = 10; n < 30; n++) add(client, n);
    await rig.broker.run();
    await rig.hub.connect(rig.broker);
    await rig.hub.until(() => rig.hub.stored.length === 30);
    expect(stored()).to.deep.equal(Array.from({ length: 30 }, (_, n) => n));
    await rig.hub.acknowledge(rig.hub.stored[29] as FleetEvent);
    await rig.reported(({ events_behind: behind }) => behind === 0);
    expect(queue.acknowledgedAt).to.be.a('number');
  });

  it('are sent again while the hub does not acknowledge, and none is passed by another', async () => {
    rig.hub.onEvent = () => undefined;
    const client = rig.client();
    for (let n = 0; n < 3; n++) add(client, n);
    await rig.hub.until(() => rig.hub.repeats === 2);
    expect(stored()).to.deep.equal([0]);
    rig.hub.onEvent = (event) => void rig.hub.acknowledge(event);
    await rig.hub.until(() => rig.hub.stored.length === 3);
    expect(stored()).to.deep.equal([0, 1, 2]);
  });

  it('outlive a hub that was away, and lost one in its restart', async () => {
    const client = rig.client({ limits: { policyMs: 1 } });
    await rig.reported(({ connected }) => connected);
    await rig.hub.disconnect();
    add(client, 0);
    await rig.replied(CALLER, 'call-1'); // the broker has taken it, and had nobody to give it to
    await rig.hub.connect(rig.broker);
    add(client, 1);
    await rig.hub.until(() => rig.hub.stored.length === 2);
    expect(stored()).to.deep.equal([0, 1]);
  });

  it('are deleted only by an acknowledgement that svc-control believes, of their stream', async () => {
    rig.hub.onEvent = () => undefined;
    const queue = rig.queue();
    const client = rig.client({ queue });
    add(client, 0);
    await rig.hub.until(() => rig.hub.stored.length === 1);
    const [event] = rig.hub.stored as [FleetEvent];
    await rig.hub.publish(`${NODE}/ack`, 'forged', true);
    await rig.hub.publish(`${NODE}/ack`, JSON.stringify({ stream: 'another', seq: 99 }), true);
    await rig.control.until(() => rig.control.acks.some((ack) => ack.includes('another')));
    await rig.answered();
    expect(rig.lines.join()).to.include('an acknowledgement of the hub is not believed');
    expect(queue.behind).to.equal(1);
    for (const twice of [event, event]) await rig.hub.acknowledge(twice);
    add(client, 1);
    await rig.hub.until(() => rig.hub.stored.length === 2);
    await rig.settled();
    expect(queue.behind, 'the second one acknowledged nothing more').to.equal(1);
    const late = rig.hub.stored.at(-1) as FleetEvent;
    await rig.hub.acknowledge(event);
    await rig.hub.acknowledge(late);
    await rig.reported(({ events_behind: behind }) => behind === 0);
    expect(stored()).to.deep.equal([0, 1]);
  });

  it('are left alone by what svc-control answers after the client has stopped', async () => {
    const late = Promise.withResolvers<null>();
    const queue = rig.queue();
    const client = rig.client({ queue });
    await rig.reported(({ connected }) => connected);
    rig.control.held = late.promise;
    client.changed();
    await rig.control.until(() => rig.control.asked > 0);
    add(client, 0);
    await rig.control.until(() => rig.control.acks.length === 1);
    await client.stop();
    queue.close();
    late.resolve(null);
    await rig.answered();
    expect(rig.lines.filter((line) => line.includes('database'))).to.deep.equal([]);
  });

  it('wait on the disk for the next process, with telemetry from time to time', async () => {
    await rig.broker.kill();
    const first = rig.queue();
    const client = rig.client({ queue: first, telemetryHz: 1, limits: { keepTelemetryMs: 200 } });
    add(client, 0);
    await rig.reported(({ events_behind: behind }) => behind >= 3);
    await client.stop();
    const { stream } = first;
    first.close();
    await rig.broker.run();
    await rig.hub.disconnect();
    await rig.hub.connect(rig.broker);
    const second = rig.queue();
    expect(second.stream).to.equal(stream);
    const waiting = second.behind;
    rig.client({ queue: second });
    await rig.hub.until(() => rig.hub.stored.length === waiting);
    expect(rig.hub.stored.map(({ kind }) => kind).slice(0, 2)).to.have.members(['vehicle.mode', 'telemetry']);
    const kept = rig.hub.stored.find(({ kind }) => kind === 'telemetry');
    expect(kept?.detail).to.deep.equal({ mode: 'GUIDED', position: { lat: 1, lon: 2 } });
  });

  it('begin a new stream where the queue is an older copy, whose numbers the hub knows', async () => {
    const queue = rig.queue();
    const client = rig.client({ queue });
    add(client, 0);
    await rig.hub.until(() => rig.hub.stored.length === 1);
    const [{ stream }] = rig.hub.stored as [FleetEvent];
    await rig.hub.acknowledge({ stream, seq: 500 });
    await rig.control.until(() => rig.control.acks.some((ack) => ack.includes('500')));
    await rig.answered();
    expect(queue.stream).to.not.equal(stream);
    add(client, 1);
    await rig.hub.until(() => rig.hub.stored.length === 2);
    expect(stored()).to.deep.equal([0, 1]);
  });
});
