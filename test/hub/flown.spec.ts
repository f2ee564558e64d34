import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const headers = { 'x-svc-key': KEY };
const REPORTED_MS = 60_000;

/** A hub with its broker and a node with its simulated vehicle, all real. */
describe('a flight', function () {
  this.timeout(180_000);
  let hub: TestHub;
  let node: TestNode;
  before(async function () {
    if (noMosquitto() !== null) return this.skip();
    [hub, node] = await Promise.all([TestHub.start(), TestNode.start({ pairing: { key: KEY } })]);
    const { body } = await hub.call('POST', '/v1/codes');
    const said = await svc(
      node.paths,
      'fleet',
      'enroll',
      `https://127.0.0.1:${hub.httpsPort}`,
      String(body['code']),
    );
    expect(said.code, said.stderr).to.equal(0);
    await hub.streamed((_name, { online }) => online === true);
  });
  after(async () => {
    await Promise.all([hub?.stop(), node?.stop()]);
  });

  const fly = async (): Promise<void> => {
    await armable(node, headers);
    for (const [cmd, ...args] of [['mode', 'GUIDED'], ['arm'], ['takeoff', 8]])
      expect((await node.post('/api/command', { cmd, args }, headers)).body, String(cmd)).to.include({
        status: 'accepted',
      });
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 7.5, headers);
    await node.post('/api/command', { cmd: 'land' }, headers);
    await telemetry(node, ({ armed }) => armed === false, headers);
  };
  const flights = async (count: number) =>
    (
      await askAgain(
        `${count} flights are at the hub`,
        async () => hub.call('GET', '/v1/flights'),
        ({ body }) => (body['flights'] as readonly unknown[]).length === count,
        REPORTED_MS,
      )
    ).body['flights'] as readonly Readonly<Record<string, unknown>>[];

  it('is at the hub soon after its landing, with its figures and its track', async () => {
    await fly();
    const [flight] = await flights(1);
    expect(flight?.['armed_s']).to.be.within(5, 120);
    expect(flight?.['max_height_m']).to.be.within(6.5, 9);
    const one = (await hub.call('GET', `/v1/flights/${String(flight?.['id'])}`)).body;
    expect((one['modes'] as readonly { name: string }[]).map(({ name }) => name)).to.include.members([
      'GUIDED',
      'LAND',
    ]);
    const { geometry } = one['track'] as { geometry: { coordinates: readonly unknown[] } };
    expect(geometry.coordinates).to.have.length.above(5);
  });

  it('while the hub is away is there when it is back, once', async () => {
    await hub.kill();
    await fly();
    await hub.serve();
    const [newest, first] = await flights(2);
    expect(newest?.['flight']).not.to.equal(first?.['flight']);
    const { body } = await hub.call('GET', '/v1/airframes');
    expect((body['airframes'] as readonly object[])[0]).to.include({ flights: 2 });
  });
});
