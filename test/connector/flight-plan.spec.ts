import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { Denial } from '../../connector/denial.ts';
import { Flights, type KeptPlan } from '../../connector/flights.ts';
import { bootTime } from '../../shared/boot-clock.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { endPresence, renewPresence } from '../../shared/operator/presence.ts';
import { type PendingCall, pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { callTool, connectStdio, HttpConnector, newClient } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { forgedToken, StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;

const KEYED = { 'x-svc-key': KEY };

describe('a flight that a person approves once', function () {
  this.timeout(120_000);
  let sim: SimProcess;
  let node: TestNode;
  let home: string;
  let token: string;
  let client: Client;

  before(async () => {
    home = await tempDir();
    sim = await SimProcess.start('--speedup', '4');
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mcp:\n  token_accept_enabled: true\nmavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    token = await mint('read', 'flight');
    await armable(node, KEYED);
    client = await connect(token);
    await ensureOperatorKey(files());
  });
  after(async () => {
    await client.close();
    await node.stop();
    await sim[Symbol.asyncDispose]();
    await removeDir(home);
  });

  const files = () => operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
  const mint = async (...scopes: string[]): Promise<string> => {
    const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'plan' }, KEYED);
    return String(body['token']);
  };
  const connect = async (by: string): Promise<Client> =>
    connectStdio({
      args: ['--target', 'agent', node.url, '--token', by, '--flight-enforced'],
      home,
      key: KEY,
    });
  const reason = async (tool: string, args: Record<string, unknown> = {}, by = client): Promise<unknown> =>
    (await callTool(by, tool, args)).value['reason'];
  /** A person looks at what waits, and signs it. */
  const sign = async (tool: string, args: Record<string, unknown>, by = client): Promise<PendingCall> => {
    const { value } = await callTool(by, tool, args);
    const waiting = pendingCall(files(), String(value['confirm_id']), bootTime());
    if (waiting === null) throw new Error(`nothing waits: ${JSON.stringify(value)}`);
    await signCall(files(), waiting, bootTime());
    return waiting;
  };

  it('is planned without a person, signed whole, flown with progress, and its way down needs nobody', async () => {
    const steps = [
      { do: 'takeoff', altitude_m: 8 },
      { do: 'move', north_m: 15, up_m: 2 },
      { do: 'hover', seconds: 2 },
    ];
    const planned = await client.callTool({ name: 'flight_plan', arguments: { steps } });
    const plan = planned.structuredContent as Json;
    expect(plan).to.include({ ok: true, lowest_m: 8, highest_m: 10, distance_m: 15, farthest_m: 15 });
    expect(plan['battery']).to.include({ needed_percent: null });
    const [{ text = '' } = {}] = planned.content as { text?: string }[];
    expect(text).to.match(
      /^flight_run with code plan-\w{8} flies it.*\n1\. Arm and take off to 8 m\.\n2\. Move 15 m north, 2 m up, to 10 m\.\n3\. Hover 2 s at 10 m\./,
    );
    expect(plan['warnings']).to.include('It ends in the air, and nobody has it land.');
    const { code } = plan;

    expect(await reason('flight_land'), 'no flight yet').to.equal('operator_present_stale');
    const waiting = await sign('flight_run', { code });
    expect(waiting.summary).to.match(
      /^Farthest from the vehicle: 1[56] m \(step 2\)\. Lowest: 8 m above home \(step 1\)/,
    );
    expect(waiting.summary).to.include('\n3. Hover 2 s at 10 m.');
    const said: string[] = [];
    const done: number[] = [];
    const run = await client.callTool(
      { name: 'flight_run', arguments: { code, confirm_id: waiting.code } },
      {
        timeout: 100_000,
        onprogress: ({ message = '', progress }) => {
          said.push(message);
          done.push(progress);
        },
      },
    );
    expect(run.structuredContent, JSON.stringify(run.structuredContent)).to.include({
      ok: true,
      done: true,
      steps_done: 3,
    });
    expect(said[0]).to.match(/^step 1 of 3: climbing to 8 m: /);
    expect(said.at(-1)).to.match(/^step 3 of 3: hovering 2 s/);
    expect(done, 'it only grows').to.deep.equal(done.toSorted((a, b) => a - b));
    expect(await reason('flight_run', { code }), 'flown once').to.equal('not_found');

    const { position } = await telemetry(node, () => true, KEYED);
    const { lat, lon } = position as { lat: number; lon: number };
    expect(await reason('flight_goto', { lat, lon, alt_m: 9 }), 'no other command').to.equal(
      'operator_present_stale',
    );
    expect(await reason('flight_move', { north_m: 2 })).to.equal('operator_present_stale');
    const stranger = await connect(await mint('read', 'flight'));
    const refused = await callTool(stranger, 'flight_land');
    expect(refused.value, 'another caller').to.include({ reason: 'operator_present_stale' });
    expect(refused.value['message']).to.include('a restart of the connector forgets');
    await stranger.close();
    const restarted = await connect(token);
    expect(await reason('flight_land', {}, restarted), 'after a restart').to.equal('operator_present_stale');
    await restarted.close();

    expect((await callTool(client, 'flight_stop')).value).to.include({ ok: true });
    const down = await callTool(client, 'flight_land', { timeout_s: 90 });
    expect(down.value, JSON.stringify(down.value)).to.include({ ok: true, done: true });
    expect(await reason('flight_land'), 'it has landed').to.equal('operator_present_stale');
  });
});

type Put = (next: Json) => void;

/** A plan against a vehicle that does what a test wants. */
describe('a plan', function () {
  this.timeout(120_000);
  const HERE = { lat: 47, lon: 8 };
  const M = 1 / 111_195;
  const FLYING = {
    mavlink_alive: true,
    armed: true,
    mode: 'GUIDED',
    mav_type: 2,
    autopilot: 3,
    position: { ...HERE, alt_rel: 10, heading: 90 },
    home: { ...HERE, alt_msl: 400 },
    velocity: { groundspeed: 0 },
    battery: { remaining: 80, current: 20 },
    landed_state: 'in_air',
  } as const;
  /** Reads what the connector sends. */
  const bodyOf = async (req: IncomingMessage): Promise<Json> => (await json(req)) as Json;

  let home: string;
  let stub: StubNode;
  let client: Client;
  let now: Json;
  /** What the vehicle does at each command; it is there at once. */
  let does: (cmd: string, args: readonly number[], put: Put) => void;
  let sent: string[];

  const arrives = (cmd: string, args: readonly number[], put: Put): void => {
    const [lat = 0, lon = 0, alt = 0] = args;
    if (cmd === 'goto') put({ ...now, mode: 'GUIDED', position: { lat, lon, alt_rel: alt, heading: 0 } });
  };
  before(async () => {
    home = await tempDir();
    stub = await StubNode.start();
    stub.answers.set('GET /api/telemetry', () => [200, now]);
    client = await connectStdio({
      args: ['--target', 'agent', stub.url, '--flight-enforced', '--token', stub.token('read', 'flight')],
      home,
      key: KEY,
    });
    await ensureOperatorKey(files());
  });
  beforeEach(() => {
    [now, does, sent] = [FLYING, arrives, []];
    stub.answers.set('POST /api/command', (req) => {
      void bodyOf(req).then(({ cmd, args }) => {
        sent.push(String(cmd));
        does(String(cmd), args as readonly number[], (next) => (now = next));
      });
      return [200, { ack: { observed: true, accepted: true } }];
    });
    stub.answers.set('GET /api/config', [200, { mavlink: { endpoints: [] }, flight: { max_goto_m: 2000 } }]);
    stub.answers.delete('GET /api/params');
    stub.answers.delete('GET /api/fence');
  });
  after(async () => {
    await client.close();
    await stub.leave();
    await removeDir(home);
  });

  const files = () => operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
  const plan = async (steps: readonly unknown[], more: Json = {}) =>
    callTool(client, 'flight_plan', { steps, ...more });
  const codeOf = async (steps: readonly unknown[]): Promise<string> => {
    const { value } = await plan(steps);
    expect(value['problems'], JSON.stringify(value)).to.deep.equal([]);
    return String(value['code']);
  };
  /** @returns the arguments of the run, signed */
  const signed = async (code: string): Promise<{ readonly code: string; readonly confirm_id: string }> => {
    const { value } = await callTool(client, 'flight_run', { code });
    const waiting = pendingCall(files(), String(value['confirm_id']), bootTime());
    if (waiting === null) throw new Error(`nothing waits: ${JSON.stringify(value)}`);
    await signCall(files(), waiting, bootTime());
    return { code, confirm_id: waiting.code };
  };
  const north = (metres: number): Json => ({ do: 'move', north_m: metres });

  it('is not left in the air for a photo that the vehicle does not take', async () => {
    let commands = 0;
    stub.answers.set('POST /api/command', (req) => {
      void bodyOf(req).then(({ cmd, args }) => {
        sent.push(String(cmd));
        does(String(cmd), args as readonly number[], (next) => (now = next));
      });
      return [200, { ack: { observed: true, accepted: ++commands !== 2, result_name: 'UNSUPPORTED' } }];
    });
    const code = await codeOf([north(10), { do: 'photo' }, north(10)]);
    const { value } = await callTool(client, 'flight_run', await signed(code));
    expect(value, JSON.stringify(value)).to.include({ ok: true, steps_done: 3, photos_missed: 1 });
    expect(value['message']).to.equal(
      'All 3 steps are flown. Photos that the vehicle refused or did not answer to: 1.',
    );
    expect(sent).to.deep.equal(['goto', 'photo', 'goto']);
  });

  it('flies each leg with one command, and the arguments that were signed', async () => {
    const code = await codeOf([north(10), { do: 'move', forward_m: 10 }, { do: 'altitude', altitude_m: 20 }]);
    const { value } = await callTool(client, 'flight_run', await signed(code));
    expect(value, JSON.stringify(value)).to.include({ ok: true, steps_done: 3 });
    expect(sent).to.deep.equal(['goto', 'goto', 'goto']);
    const { lat, lon, alt_rel: height } = now['position'] as Record<string, number>;
    expect(height).to.equal(20);
    expect(((lat ?? 0) - HERE.lat) / M, 'forward is where the nose pointed').to.be.closeTo(10, 0.1);
    expect((((lon ?? 0) - HERE.lon) / M) * Math.cos((47 * Math.PI) / 180)).to.be.closeTo(10, 0.1);
  });

  const wrong: readonly (readonly [what: string, steps: readonly unknown[], says: RegExp])[] = [
    ['500 steps', Array.from({ length: 500 }, () => ({ do: 'photo' })), /steps .*50/],
    ['no steps', [], /steps/],
    [
      'a number that is none',
      [{ do: 'altitude', altitude_m: 'NaN' }],
      /^Step 1 \(altitude\): altitude_m must be a number from 1 to 500/,
    ],
    [
      'nothing where a number is wanted',
      [north(5), { do: 'altitude' }],
      /^Step 2 \(altitude\): altitude_m is missing/,
    ],
    [
      'an infinite number',
      [{ do: 'altitude', altitude_m: 1e308 }],
      /^Step 1 \(altitude\): altitude_m must be a number from 1 to 500/,
    ],
    ['a step that does not exist', [{ do: 'loop' }], /do must be/],
    [
      'a member of another step',
      [{ do: 'hover', seconds: 5, radius_m: 3 }],
      /^Step 1 \(hover\): radius_m is none/,
    ],
    [
      'a descent below the ground',
      [{ do: 'move', up_m: -40 }],
      /^Step 1 \(move\): -30 m above home is too low/,
    ],
    [
      'steps after the landing',
      [{ do: 'land' }, north(5)],
      /^Step 2 \(move\): the vehicle is on the ground by then/,
    ],
    [
      'a take-off in the air',
      [{ do: 'takeoff', altitude_m: 5 }],
      /^Step 1 \(takeoff\): the vehicle is in the air/,
    ],
    [
      'a survey whose sides cross',
      [
        {
          do: 'survey',
          polygon: [
            [0, 0],
            [9, 9],
            [9, 0],
            [0, 9],
          ].map(([x = 0, y = 0]) => ({ lat: 47 + x * 1e-4, lon: 8 + y * 1e-4 })),
        },
      ],
      /^Step 1 \(survey\): the sides of the polygon cross/,
    ],
    [
      'more places than a person reads',
      Array.from({ length: 50 }, () => ({ do: 'orbit', radius_m: 30, turns: 2 })),
      /more than 400 commands/,
    ],
  ];
  for (const [what, steps, says] of wrong) {
    it(`${what}: is refused, and the step is named`, async () => {
      const { value, isError } = await plan(steps);
      expect(isError).to.equal(true);
      expect(value['reason'], JSON.stringify(value)).to.equal('invalid_arguments');
      expect(value['message']).to.match(says);
    });
  }

  it('a place behind the horizon gets no code, but where the user asked for just that', async () => {
    const far = [{ do: 'goto', lat: 48, lon: 8 }];
    const { value } = await plan(far);
    expect(value).to.include({ ok: false, code: null });
    expect(value['problems']).to.match(
      /Step 1: the place is 112 km from the vehicle; flight.max_goto_m allows 2000 m/,
    );
    expect((await plan(far, { allow_far: true })).value).to.include({ ok: true });
  });

  it('each leg is as long as a command may go, not only each place', async () => {
    const { value } = await plan([north(1500), north(-3000)]);
    expect(value['problems']).to.deep.equal([
      'Step 2: 3000 m from the place before it; flight.max_goto_m allows 2000 m.',
    ]);
  });

  it('a fence in between is no way, though both ends are inside', async () => {
    stub.answers.set('GET /api/params', [
      200,
      { params: { FENCE_ENABLE: 1, FENCE_TYPE: 4, FENCE_TOTAL: 1 } },
    ]);
    const zone = { seq: 0, frame: 3, command: 5004, param1: 30, param2: 0, param3: 0, param4: 0 };
    const items = [{ ...zone, x: 47 + 100 * M, y: 8, z: 0, autocontinue: 1 }];
    stub.answers.set('GET /api/fence', [200, { items }]);
    const { value } = await plan([north(200)], { allow_far: true });
    expect(value).to.include({ ok: false });
    expect(value['problems']).to.deep.equal(["Step 1: the way there leaves the vehicle's fence."]);
  });

  it('a battery that does not suffice', async () => {
    stub.answers.set('GET /api/params', [200, { params: { BATT_CAPACITY: 5000, WPNAV_SPEED: 500 } }]);
    now = { ...FLYING, battery: { remaining: 12, current: 20 } };
    const { value } = await plan([north(1500), { do: 'return' }]);
    expect(value).to.include({ ok: false });
    expect(value['problems']).to.match(/The battery has 12 %, and the plan needs about \d\d %/);
    expect((await plan([north(5)])).value['warnings']).to.match(/would have 1\d % left|9 % left/);
  });

  it('a vehicle that lands by itself in the middle: nothing else is commanded', async () => {
    const code = await codeOf([north(10), north(10), north(10)]);
    does = (cmd, args, put) => {
      if (sent.length < 2) arrives(cmd, args, put);
      else put({ ...now, armed: false, mode: 'LAND', landed_state: 'on_ground' });
    };
    const { value, isError } = await callTool(client, 'flight_run', await signed(code));
    expect(isError).to.equal(true);
    expect(value, JSON.stringify(value)).to.include({ ok: false, ended: 'disarmed', steps_done: 1 });
    expect(value['message']).to.match(
      /^Stopped in step 2 of 3 .*; step 1 is done\. The motors have stopped\./,
    );
    expect(sent).to.deep.equal(['goto', 'goto']);
  });

  it('a pilot who takes the vehicle over in a hover, or moves it, keeps it', async () => {
    const code = await codeOf([north(10), { do: 'hover', seconds: 30 }, north(10)]);
    const run = callTool(client, 'flight_run', await signed(code));
    const timer = setInterval(() => {
      if (sent.length === 1) now = { ...now, mode: 'LOITER' };
    }, 100);
    const { value } = await run;
    clearInterval(timer);
    expect(value, JSON.stringify(value)).to.include({ ended: 'mode_changed', steps_done: 1 });
    expect(sent).to.deep.equal(['goto']);

    now = FLYING;
    const other = await codeOf([north(10), { do: 'hover', seconds: 1 }, north(10)]);
    sent = [];
    const moved = callTool(client, 'flight_run', await signed(other));
    const mover = setInterval(() => {
      const position = now['position'] as Record<string, number>;
      if (sent.length === 1) now = { ...now, position: { ...position, lon: 8 + 60 * M } };
    }, 700);
    const ended = (await moved).value;
    clearInterval(mover);
    expect(ended, JSON.stringify(ended)).to.include({ ended: 'moved' });
    expect(sent).to.deep.equal(['goto']);
  });

  it('a link that is lost ends the run', async () => {
    const code = await codeOf([north(10), north(10)]);
    does = (_cmd, _args, put) => put({ ...now, mavlink_alive: false });
    const { value } = await callTool(client, 'flight_run', await signed(code));
    expect(value, JSON.stringify(value)).to.include({ ended: 'link_lost', steps_done: 0 });
    expect(sent).to.deep.equal(['goto']);
  });

  it('another call that commands the vehicle ends the run, and is covered by its signature', async () => {
    const code = await codeOf([north(10), { do: 'hover', seconds: 60 }, north(10)]);
    const cleared = await signed(code);
    const run = client.callTool(
      { name: 'flight_run', arguments: cleared },
      {
        onprogress: ({ message }) => {
          if (message?.startsWith('step 2') === true && !sent.includes('stop')) {
            sent.push('asked');
            void callTool(client, 'flight_stop');
          }
        },
      },
    );
    const value = (await run).structuredContent as Json;
    expect(value, JSON.stringify(value)).to.include({ ended: 'interrupted', steps_done: 1 });
    expect(value['message']).to.include('flight_stop');
    expect(sent.filter((each) => each !== 'asked').slice(0, 2)).to.deep.equal(['goto', 'stop']);
    expect(sent.filter((each) => each === 'goto')).to.have.length(1);
  });

  it('a cancelled run does not go on to the next step', async () => {
    const code = await codeOf([north(10), { do: 'hover', seconds: 2 }, north(10)]);
    const cleared = await signed(code);
    const cancel = new AbortController();
    const run = client.callTool(
      { name: 'flight_run', arguments: cleared },
      {
        signal: cancel.signal,
        onprogress: ({ message }) => {
          if (message?.startsWith('step 2') === true) cancel.abort();
        },
      },
    );
    expect(await run.catch((error: unknown) => error)).to.be.instanceOf(Error);
    // Once its run is over, the next one is let in, and finds what was sent.
    let next: unknown = null;
    while (typeof next !== 'string') next = (await plan([north(5)])).value['code'];
    await callTool(client, 'flight_run', await signed(next));
    expect(sent).to.deep.equal(['goto', 'goto']);
  });

  const since: readonly (readonly [what: string, change: Json, says: RegExp])[] = [
    ['500 m of movement', { position: { lat: 47 + 500 * M, lon: 8, alt_rel: 10 } }, /has moved 500 m/],
    ['another mode', { mode: 'LOITER' }, /another mode/],
    ['a landing', { armed: false, landed_state: 'on_ground' }, /was disarmed/],
  ];
  for (const [what, change, says] of since) {
    it(`is not flown after ${what}, signed before or not, and nobody is asked for it`, async () => {
      const code = await codeOf([north(10)]);
      const cleared = await signed(code);
      now = { ...FLYING, ...change };
      const late = await callTool(client, 'flight_run', cleared);
      expect(late.value, JSON.stringify(late.value)).to.include({ reason: 'precondition_failed' });
      expect(late.value['message']).to.match(says);
      const unasked = await callTool(client, 'flight_run', { code });
      expect(unasked.value).to.include({ reason: 'precondition_failed' }).and.not.have.property('confirm_id');
      expect(sent).to.deep.equal([]);
      now = FLYING;
      expect((await callTool(client, 'flight_run', cleared)).value, 'the signature is kept').to.include({
        ok: true,
      });
    });
  }

  it('of two clients one flies: the other plans and runs nothing meanwhile', async () => {
    await using http = await HttpConnector.start({
      args: ['--target', 'agent', stub.url, '--flight-enforced'],
      home,
      key: KEY,
    });
    const [one, two] = await Promise.all(
      [1, 2].map(async () => {
        const headers = { authorization: `Bearer ${forgedToken(stub.deviceId, ['read', 'flight'])}` };
        const other = newClient();
        await other.connect(
          new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } }),
        );
        return other;
      }),
    );
    if (one === undefined || two === undefined) throw new Error('no clients');
    const planOf = async (by: Client, ...steps: Json[]): Promise<string> =>
      String((await callTool(by, 'flight_plan', { steps })).value['code']);
    const theirs = await planOf(two, north(10));
    const code = await planOf(one, north(10), { do: 'hover', seconds: 60 });
    expect((await callTool(two, 'flight_run', { code })).value, 'of another caller').to.include({
      reason: 'not_found',
    });
    const { value } = await callTool(one, 'flight_run', { code });
    const waiting = pendingCall(files(), String(value['confirm_id']), bootTime());
    if (waiting === null) throw new Error('nothing waits');
    await signCall(files(), waiting, bootTime());
    let hovers = (): void => undefined;
    const hovering = new Promise<void>((resolve) => (hovers = resolve));
    const run = one.callTool(
      { name: 'flight_run', arguments: { code, confirm_id: waiting.code } },
      { onprogress: ({ message }) => (message?.startsWith('step 2') === true ? hovers() : undefined) },
    );
    await hovering;
    for (const [tool, args] of [
      ['flight_run', { code: theirs }],
      ['flight_plan', { steps: [north(5)] }],
    ] as const) {
      const refused = await callTool(two, tool, args);
      expect(refused.value, tool).to.include({ reason: 'precondition_failed' });
      expect(refused.value['message']).to.include('Another plan is flown');
      expect(refused.value).to.not.have.property('confirm_id');
    }
    expect((await callTool(two, 'flight_land')).value, 'nor the way down').to.include({
      reason: 'operator_present_stale',
    });
    expect((await callTool(one, 'flight_stop')).value).to.include({ ok: true });
    expect((await run).structuredContent).to.include({ ended: 'interrupted' });
    await Promise.all([one.close(), two.close()]);
  });

  it('a signature is for one plan: not for another one, nor for another call', async () => {
    const [one, two] = [await codeOf([north(10)]), await codeOf([north(1900)])];
    const { confirm_id } = await signed(one);
    expect((await callTool(client, 'flight_run', { code: two, confirm_id })).value).to.include({
      reason: 'confirm_required',
    });
    expect((await callTool(client, 'flight_land', { confirm_id })).value).to.include({
      reason: 'confirm_required',
    });
    expect(sent).to.deep.equal([]);
  });

  it('is not let through for who only stands by: the plan is signed', async () => {
    await renewPresence(files(), bootTime(), process.pid);
    const { value } = await callTool(client, 'flight_run', { code: await codeOf([north(10)]) });
    expect(value).to.include({ reason: 'confirm_required' }).and.have.property('confirm_id');
    await endPresence(files());
  });
});

describe('plans that are kept', () => {
  const kept = (): Omit<KeptPlan, 'code' | 'at'> => ({
    node: 'n',
    plan: { legs: [], words: [], start: START },
    allowFar: false,
    begin: { place: START.place, altitude: 0, armed: false, mode: null },
  });
  const START = {
    place: { lat: 47, lon: 8 },
    altitude: 0,
    inAir: false,
    home: null,
    heading: null,
    speeds: { across: 5, up: 2, down: 1, landing: 0.5 },
    returnsAt: null,
  };

  it('are one caller’s, for one node, ten minutes and eight at a time', () => {
    let now = 0;
    const flights = new Flights(() => now);
    const code = flights.keep('a', kept());
    const finds = (who: string, node: string, which = code): boolean => {
      try {
        flights.find(who, node, which);
        return true;
      } catch (error) {
        if (!(error instanceof Denial)) throw error;
        return false;
      }
    };
    expect([finds('a', 'n'), finds('b', 'n'), finds('a', 'm')]).to.deep.equal([true, false, false]);
    now = 10 * 60_000 - 1;
    expect(finds('a', 'n')).to.equal(true);
    now += 1;
    expect(finds('a', 'n')).to.equal(false);
    const codes = Array.from({ length: 9 }, () => flights.keep('a', kept()));
    expect(codes.map((each) => finds('a', 'n', each))).to.deep.equal([false, ...Array(8).fill(true)]);
  });

  it('fly one at a time on a node, whoever planned them', () => {
    const flights = new Flights();
    flights.begin('n', 'a');
    expect(() => flights.begin('n', 'b')).to.throw(Denial, 'Another plan is flown');
    expect(() => flights.checkFree('n')).to.throw(Denial);
    flights.begin('m', 'b');
    flights.end('n');
    flights.begin('n', 'b');
  });
});
