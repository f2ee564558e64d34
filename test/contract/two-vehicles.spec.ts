import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };

/** A vehicle that sends a heartbeat five times a second from a port of its own. */
class Beating {
  armed = false;
  silent = false;
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;

  constructor(socket: Socket, system: number, port: number) {
    this.#socket = socket;
    let seq = 0;
    this.#timer = setInterval(() => {
      if (this.silent) return;
      const bytes = encodeAs(heartbeat({ armed: this.armed }), 'v2', seq++ & 0xff, system);
      socket.send(bytes, port, '127.0.0.1');
    }, 200);
  }

  static async begin(system: number, port: number): Promise<Beating> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new Beating(socket, system, port);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }
}

/** docs/contract/flight.md: which vehicle, and what asks about all of them. */
describe('two vehicles on one UDP source', function () {
  this.timeout(120_000);
  let node: TestNode;
  let ours: Beating;
  let other: Beating;

  before(async () => {
    const port = await freePort();
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mavlink:\n  source: "udp:127.0.0.1:${port}"\n  endpoints: []\n`,
    });
    ours = await Beating.begin(3, port);
    await linkState(node, ({ system_id: system }) => system === 3);
    other = await Beating.begin(2, port);
    other.armed = true;
    await linkState(node, ({ guard, guard_any: any }) => guard === false && any === true);
  });

  after(async () => {
    ours.stop();
    other.stop();
    await node.stop();
  });

  it('status and telemetry say which one commands go to; another one is a problem; diagnostics list both', async () => {
    const { body: status } = await node.json('/api/status', { headers: KEYED });
    expect(status).to.deep.include({
      system_id: 3,
      armed: false,
      fc_connected: true,
      fc_link_hint: 'linked',
    });
    expect(status['fc_link_age_s']).to.be.a('number');
    expect(JSON.stringify(status['link_problems'])).to.match(
      /"other_vehicle".*system 2\. Commands go to system 3/,
    );
    const { body: telemetry } = await node.json('/api/telemetry', { headers: KEYED });
    expect(telemetry).to.deep.include({ system_id: 3, armed: false });
    const { body } = await node.json('/api/v1/diagnostics', { headers: KEYED });
    const { systems } = body['mavlink'] as { systems: Record<string, unknown>[] };
    expect(systems.map(({ system, vehicle, armed }) => [system, vehicle, armed])).to.deep.equal([
      [2, true, true],
      [3, true, false],
    ]);
  });

  it('what cuts the link is refused while the other one flies, and when it has fallen silent', async () => {
    const restart = async (body: object): Promise<unknown> => {
      const answer = await node.post('/api/services/svc-link/restart', body, KEYED);
      return [answer.status, answer.body['code'] ?? null];
    };
    expect(await restart({})).to.deep.equal([409, 'E_ARMED']);
    other.silent = true;
    await linkState(node, ({ guard_any: any }) => any === 'unknown');
    expect(await restart({})).to.deep.equal([409, 'E_ARMED']);
    other.silent = false;
  });

  it('a restart of svc-link keeps the choice', async () => {
    ours.silent = true;
    await node.killAndAwaitSuccessor('svc-link');
    await linkState(node, ({ other_vehicles: others }) => others.includes(2));
    const kept: unknown = JSON.parse(await readFile(node.paths.chosenVehicle, 'utf8'));
    expect(kept).to.deep.include({ system: 3, component: 1, armed: false });
    const state = await linkState(node, ({ heard }) => !heard);
    expect(state.system_id).to.equal(null);
    ours.silent = false;
    await linkState(node, ({ system_id: system }) => system === 3);
  });
});
