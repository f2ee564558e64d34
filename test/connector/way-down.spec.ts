import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { Denial } from '../../connector/denial.ts';
import type { GateCall, Grant } from '../../connector/gate/gate.ts';
import { WayDown } from '../../connector/gate/way-down.ts';
import type { NodeClient, Presence } from '../../connector/planes/node-client.ts';
import { type Principal, SOCKET } from '../../connector/principal.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';

type Json = Readonly<Record<string, unknown>>;

const TOOLS = compileCatalogue();
const GROUND = { mavlink_alive: true, armed: false, landed_state: 'on_ground' };
const ARMED = { ...GROUND, armed: true };
const FLIES = { ...ARMED, landed_state: 'in_air' };
const WAYS = ['flight_stop', 'flight_land', 'flight_rtl'] as const;

/** A node whose vehicle is what a test says; null: it does not answer. */
class Vehicle implements NodeClient {
  readonly target = { id: 'n', name: null, baseUrl: null, key: 'svc_key' };
  presence: Presence | null = null;
  now: Json | null = GROUND;
  readonly asked = new EventEmitter();

  async json(): Promise<unknown> {
    this.asked.emit('asked');
    if (this.now === null) throw new Denial('rest_down');
    return Promise.resolve(this.now);
  }

  async bytes(): Promise<never> {
    return Promise.reject(new Denial('not_supported'));
  }
}

describe('the way down of a flight that a person approved', () => {
  const caller = (id: string): Principal => ({ ...SOCKET, id });
  let node: Vehicle;
  let now: number;
  let ways: WayDown;
  beforeEach(() => {
    [node, now] = [new Vehicle(), 0];
    ways = new WayDown({ launched: null, now: () => now });
  });

  const call = (name: string, change: Partial<GateCall> = {}): GateCall => {
    const tool = TOOLS.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return { tool, args: {}, principal: caller('a'), node, elicited: null, canAsk: false, ...change };
  };
  /** A call that was approved and carried out. */
  const begin = async (
    name = 'flight_takeoff',
    by: Grant['by'] = 'signature',
    done = true,
  ): Promise<void> => {
    const given: Grant = {
      by,
      clientId: null,
      code: null,
      take: async () => Promise.resolve(),
      settle: () => undefined,
    };
    const grant = ways.follow(call(name), given);
    await grant.take();
    grant.settle(done);
  };
  const covered = async (change: Partial<GateCall> = {}): Promise<readonly boolean[]> =>
    Promise.all(WAYS.map(async (name) => ways.covers(call(name, change))));
  const ALL = [true, true, true];
  const NONE = [false, false, false];

  for (const by of ['signature', 'presence'] as const)
    it(`began with a ${by}: stop, land and return are covered until it has landed, and once only`, async () => {
      await begin('flight_takeoff', by);
      node.now = FLIES;
      expect(await covered()).to.deep.equal(ALL);
      node.now = GROUND;
      expect(await covered()).to.deep.equal(NONE);
      node.now = FLIES;
      expect(await covered(), 'somebody else took off').to.deep.equal(NONE);
    });

  it('covers no other call', async () => {
    await begin();
    node.now = FLIES;
    for (const [name] of TOOLS)
      if (!WAYS.some((way) => way === name)) expect(await ways.covers(call(name)), name).to.equal(false);
  });

  it('nobody else’s, not on another node, nor after a restart', async () => {
    await begin();
    node.now = FLIES;
    expect(await covered({ principal: caller('b') })).to.deep.equal(NONE);
    const other = new Vehicle();
    other.now = FLIES;
    expect(await covered({ node: other })).to.deep.equal(NONE);
    ways = new WayDown({ launched: null, now: () => now });
    expect(await covered()).to.deep.equal(NONE);
  });

  it('not without a flight: what only arms, was refused, or nobody approved', async () => {
    await begin('flight_arm');
    await begin('flight_goto');
    await begin('flight_takeoff', 'signature', false);
    await begin('flight_takeoff', 'simulator');
    await begin('flight_takeoff', null);
    node.now = FLIES;
    expect(await covered()).to.deep.equal(NONE);
  });

  it('not of a vehicle that another has brought into the air; of a plan that was signed for it, yes', async () => {
    node.now = FLIES;
    await begin();
    expect(await covered()).to.deep.equal(NONE);
    await begin('flight_run');
    expect(await covered()).to.deep.equal(ALL);
  });

  it('a take-off that does not come is none; one that climbs slowly is', async () => {
    await begin();
    now = 50_000;
    node.now = ARMED;
    expect(await covered(), 'armed, on the ground').to.deep.equal(ALL);
    now = 60_001;
    expect(await covered()).to.deep.equal(NONE);
    await begin();
    node.now = FLIES;
    now = 130_000;
    expect(await covered()).to.deep.equal(ALL);
  });

  it('who is not seen may be in the air; not for ever', async () => {
    await begin();
    node.now = FLIES;
    expect(await covered()).to.deep.equal(ALL);
    node.now = null;
    expect(await covered()).to.deep.equal(ALL);
    now = 5 * 3600_000;
    expect(await covered()).to.deep.equal(NONE);
  });

  it('a landing is seen without a call, so that the next flight is another', async () => {
    ways = new WayDown({ launched: null, now: () => now, watchMs: 1 });
    await begin();
    node.now = FLIES;
    expect(await covered()).to.deep.equal(ALL);
    node.now = GROUND;
    ways.start();
    // The look after one that has read it.
    await new Promise((resolve) => node.asked.once('asked', resolve));
    await new Promise(setImmediate);
    ways.stop();
    node.now = FLIES;
    expect(await covered()).to.deep.equal(NONE);
  });

  it('over a fleet the node wants a signature for each request itself', async () => {
    node.presence = { online: true, seenAt: null, status: null, alarm: null };
    await begin();
    node.now = FLIES;
    expect(await covered()).to.deep.equal(NONE);
  });
});
