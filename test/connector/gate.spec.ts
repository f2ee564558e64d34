import { EventEmitter } from 'node:events';
import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { operatorSigner, type ShownCall } from '../../bin/commands/operator/operator-signer.ts';
import { Denial, type Reason } from '../../connector/denial.ts';
import { FlightSafety, type FlightSafetyOptions } from '../../connector/gate/flight-safety.ts';
import { affectsFlight, Gate, type GateCall, type Verdict } from '../../connector/gate/gate.ts';
import { WayDown } from '../../connector/gate/way-down.ts';
import type { NodeClient, NodeRequest, Presence } from '../../connector/planes/node-client.ts';
import { type Principal, SOCKET, STDIO } from '../../connector/principal.ts';
import { rowOf } from '../../connector/rows.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import type { Tool } from '../../connector/tools/tool.ts';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { bootTime } from '../../shared/boot-clock.ts';
import { ApiError } from '../../shared/errors.ts';
import { type OperatorFiles, operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { endPresence, renewPresence, STALE_S } from '../../shared/operator/presence.ts';
import { pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { Server } from '../../shared/rpc/contract.ts';
import type { OPERATOR } from '../../shared/rpc/operator.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const TOOLS = compileCatalogue();
const STATUS = '/api/status';
const CONFIG = '/api/config';
const PILOT = '/api/v1/ground-station/pic';

function tool(name: string): Tool {
  const found = TOOLS.get(name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

/** A node that answers what it is told to; undefined: it does not answer. */
class SaidNode implements NodeClient {
  readonly target: NodeClient['target'];
  presence: Presence | null = null;
  readonly says = new Map<string, unknown>();
  /** The paths that were asked, and as whom. */
  readonly asked: string[] = [];
  readonly events = new EventEmitter();
  broken: Error | null = null;

  constructor(id = 'n1', key: string | null = 'svc_key') {
    this.target = { id, name: null, baseUrl: null, key };
  }

  async json({ method, path }: NodeRequest, { kind }: Principal): Promise<unknown> {
    this.asked.push(`${method} ${path} ${kind}`);
    this.events.emit('asked');
    if (this.broken !== null) throw this.broken;
    if (!this.says.has(path)) throw new Denial('rest_down');
    return this.says.get(path);
  }

  async bytes(): Promise<never> {
    throw new Denial('not_supported');
  }
}

async function denied(work: Promise<unknown>): Promise<Denial> {
  const error: unknown = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  if (!(error instanceof Denial)) throw error ?? new Error('it was allowed');
  return error;
}

const TOKEN: Principal = { ...STDIO, kind: 'token', id: 'mct_1', scopes: SCOPES, token: 'x' };

/** A log whose sentences are kept. */
function listening() {
  const said: string[] = [];
  const write = (sentence: string): void => {
    said.push(sentence);
  };
  return { said, log: { ...createLogger('test', 'silent'), warn: write } as unknown as typeof silentLog };
}

describe('whether flight tools may be used', () => {
  let now: number;
  let node: SaidNode;
  let changes: number;
  beforeEach(() => {
    [now, node, changes] = [1000, new SaidNode(), 0];
  });

  const safety = (options: Partial<FlightSafetyOptions> = {}): FlightSafety =>
    new FlightSafety({
      declared: false,
      simulator: false,
      launched: null,
      onChange: () => changes++,
      now: () => now,
      log: silentLog,
      ...options,
    });
  const asks = (path: string): number => node.asked.filter((asked) => asked.includes(`${path} `)).length;
  const endpoints = (...list: unknown[]): void => {
    node.says.set(CONFIG, { mavlink: { endpoints: list } });
  };

  it('not without a declaration or a simulator, whatever the node says', async () => {
    endpoints();
    node.says.set(STATUS, { fc_simulated: true });
    const none = safety();
    expect(none.shown).to.equal(false);
    expect((await denied(none.check(node))).reason).to.equal('ws_proxy_enforce_off');
    expect(await none.isWaived(node)).to.equal(false);
    expect(node.asked).to.deep.equal([]);
  });

  it('declared: only on a node of which no endpoint is without the armed guard', async () => {
    const { said, log } = listening();
    const declared = safety({ declared: true, log });
    expect(declared.shown).to.equal(true);
    endpoints('udp:127.0.0.1:14550', 'tcp:127.0.0.1:5760?force=0');
    await declared.check(node);
    now += 5000;
    endpoints('udp:127.0.0.1:14550', 'tcp:127.0.0.1:5760?force=1');
    expect((await denied(declared.check(node))).message).to.include('start the connector with');
    expect(said.join())
      .to.include('n1')
      .and.to.include('tcp:127.0.0.1:5760?force=1')
      .and.to.not.include('14550');
  });

  for (const config of [null, {}, { mavlink: null }, { mavlink: { endpoints: 'udp:127.0.0.1:1' } }])
    it(`declared: a configuration ${JSON.stringify(config)} says nothing, and counts against flight`, async () => {
      node.says.set(CONFIG, config);
      expect((await denied(safety({ declared: true }).check(node))).message).to.include(
        'cannot be checked that n1',
      );
    });

  it('an answer is believed for five seconds and not a moment longer; no answer is not remembered', async () => {
    const { said, log } = listening();
    const declared = safety({ declared: true, log });
    expect((await denied(declared.check(node))).message).to.include('cannot be checked');
    expect(said.join()).to.include('n1: its config cannot be read');
    endpoints();
    await declared.check(node);
    endpoints('udp:0.0.0.0:14550?force=1');
    now += 4999;
    await declared.check(node);
    expect(asks(CONFIG)).to.equal(2);
    now += 1;
    expect((await denied(declared.check(node))).reason).to.equal('ws_proxy_enforce_off');
    endpoints();
    now += 4999;
    await denied(declared.check(node));
    now += 1;
    await declared.check(node);
    // Of each node for itself.
    const other = new SaidNode('n2');
    await denied(declared.check(other));
  });

  it('a simulator is asked at each call, and nothing but true is one', async () => {
    const sim = safety({ simulator: true });
    expect(sim.shown).to.equal(true);
    node.says.set(STATUS, { fc_simulated: true });
    await sim.check(node);
    await sim.check(node);
    expect(asks(STATUS)).to.equal(2);
    expect(asks(CONFIG)).to.equal(0);
    expect(await sim.isWaived(node)).to.equal(true);
    for (const said of [false, 'true', 1, undefined]) {
      node.says.set(STATUS, { fc_simulated: said });
      expect(await sim.isWaived(node), String(said)).to.equal(false);
      expect((await denied(sim.check(node))).message, String(said)).to.include('start the connector with');
    }
    node.says.clear();
    expect(await sim.isWaived(node)).to.equal(false);
    expect((await denied(sim.check(node))).message).to.include('cannot be checked');
  });

  it('where both are given either will do; over a fleet a simulator waives no confirmation', async () => {
    const both = safety({ simulator: true, declared: true });
    node.says.set(STATUS, { fc_simulated: false });
    endpoints();
    await both.check(node);
    expect(await both.isWaived(node)).to.equal(false);
    node.says.set(STATUS, { fc_simulated: true });
    endpoints('?force=1');
    now += 5000;
    await both.check(node);
    node.presence = { online: true, seenAt: null, status: null, alarm: null };
    expect(await both.isWaived(node)).to.equal(false);
  });

  it('an error that is no refusal of the node is not swallowed', async () => {
    node.broken = new Error('a bug');
    for (const work of [
      safety({ declared: true }).check(node),
      safety({ simulator: true }).check(node),
      safety().pilotPresent(node),
    ])
      expect(await work.then(String, (error: Error) => error.message)).to.equal('a bug');
  });

  it('asks with the key, else with the token that it was launched with', async () => {
    endpoints();
    await safety({ declared: true, launched: TOKEN }).check(node);
    const keyless = new SaidNode('n3', null);
    keyless.says.set(CONFIG, { mavlink: { endpoints: [] } });
    await safety({ declared: true, launched: TOKEN }).check(keyless);
    expect([...node.asked, ...keyless.asked]).to.deep.equal([`GET ${CONFIG} stdio`, `GET ${CONFIG} token`]);
  });

  it('a pilot is present by the key or a session, not by a token, a number or nobody', async () => {
    const present = async (said: unknown): Promise<string | null> => {
      node.says.set(PILOT, said);
      return safety().pilotPresent(node);
    };
    expect(await present({ claimed_by: 'tablet', by: 'key' })).to.equal('tablet');
    expect(await present({ claimed_by: 'tablet', by: 'session' })).to.equal('tablet');
    expect(node.asked.at(-1)).to.equal(`GET ${PILOT} stdio`);
    for (const said of [
      { claimed_by: 'tablet', by: 'token' },
      { claimed_by: 'tablet' },
      { claimed_by: null, by: 'key' },
      { claimed_by: 7, by: 'session' },
      null,
    ])
      expect(await present(said), JSON.stringify(said)).to.equal(null);
    node.says.clear();
    expect(await safety().pilotPresent(node)).to.equal(null);
  });

  describe('what is listed', () => {
    /** The next whole look at the node. */
    const nextLook = async (of = node): Promise<void> => {
      for (let look = 0; look < 2; look++) await new Promise((resolve) => of.events.once('asked', resolve));
      await new Promise(setImmediate);
    };
    /** So much time passes that another watch of the same period has looked so often. */
    const otherLooks = async (count: number): Promise<void> => {
      const other = new SaidNode('n9');
      const watch = safety({ simulator: true, watchMs: 5 });
      watch.start(() => [other]);
      for (let look = 0; look < count; look++) await nextLook(other);
      watch.stop();
    };

    it('follows what the nodes say, stays while they do not, and tells clients of each change once', async () => {
      const { said, log } = listening();
      const sim = safety({ simulator: true, watchMs: 5, log });
      node.says.set(STATUS, { fc_simulated: true });
      sim.start(() => [node]);
      await nextLook();
      expect([sim.shown, changes]).to.deep.equal([true, 0]);
      node.says.set(STATUS, { fc_simulated: false });
      await nextLook();
      expect([sim.shown, changes]).to.deep.equal([false, 1]);
      node.says.clear();
      await nextLook();
      expect([sim.shown, changes]).to.deep.equal([false, 1]);
      node.says.set(STATUS, { fc_simulated: true });
      await nextLook();
      expect([sim.shown, changes]).to.deep.equal([true, 2]);
      node.says.clear();
      await nextLook();
      expect([sim.shown, changes]).to.deep.equal([true, 2]);
      sim.stop();
      expect(said).to.deep.equal(['flight tools are off', 'flight tools are on again']);
      node.asked.length = 0;
      await otherLooks(4);
      expect(node.asked, 'after stop').to.deep.equal([]);
    });

    it('follows the configuration where that was declared', async () => {
      endpoints('?force=1');
      const declared = safety({ declared: true, watchMs: 5 });
      declared.start(() => [node]);
      await new Promise((resolve) => node.events.once('asked', resolve));
      await new Promise(setImmediate);
      expect(declared.shown).to.equal(false);
      endpoints();
      now += 5000;
      await new Promise((resolve) => node.events.once('asked', resolve));
      await new Promise(setImmediate);
      expect([declared.shown, changes]).to.deep.equal([true, 2]);
      declared.stop();
    });

    it('one node on which they are usable is enough', async () => {
      const other = new SaidNode('n2');
      other.says.set(STATUS, { fc_simulated: false });
      node.says.set(STATUS, { fc_simulated: true });
      const sim = safety({ simulator: true, watchMs: 5 });
      sim.start(() => [other, node]);
      await nextLook();
      expect(sim.shown).to.equal(true);
      sim.stop();
    });

    it('is not watched where they were never on', async () => {
      const none = safety({ watchMs: 1 });
      none.start(() => [node]);
      await otherLooks(4);
      none.stop();
      expect(node.asked).to.deep.equal([]);
    });
  });
});

describe('the gate of tool calls', () => {
  let home: string;
  let files: OperatorFiles;
  let now: number;
  let node: SaidNode;
  beforeEach(async () => {
    home = await tempDir();
    files = operatorFiles({ SVC_OPERATOR_DIR: home });
    await ensureOperatorKey(files);
    [now, node] = [50_000, new SaidNode()];
    node.says.set(CONFIG, { mavlink: { endpoints: [] } });
  });
  afterEach(async () => removeDir(home));

  const gate = (options: Partial<FlightSafetyOptions> = {}, log = silentLog): Gate =>
    new Gate({
      operator: files,
      now: () => now,
      log,
      wayDown: new WayDown({ launched: null, now: () => now }),
      flight: new FlightSafety({
        declared: true,
        simulator: false,
        launched: null,
        onChange: () => undefined,
        now: () => now,
        log: silentLog,
        ...options,
      }),
    });
  const call = (name: string, change: Partial<GateCall> = {}): GateCall => ({
    tool: tool(name),
    args: {},
    principal: SOCKET,
    node,
    elicited: null,
    canAsk: false,
    ...change,
  });
  const passed = (verdict: Verdict): Extract<Verdict, { kind: 'pass' }> => {
    if (verdict.kind !== 'pass') throw new Error(`it is no pass, but ${verdict.kind}`);
    return verdict;
  };
  const reasonOf = async (work: () => Promise<void>): Promise<Reason | null> => {
    try {
      await work();
      return null;
    } catch (error) {
      if (error instanceof Denial) return error.reason;
      throw error;
    }
  };

  describe('scopes', () => {
    it('each that is missing is named; a socket holds all; who flies needs the guard besides', async () => {
      const holding = (...scopes: Scope[]): Principal => ({ ...TOKEN, scopes });
      const missing = await denied(gate().admit(call('flight_arm', { principal: holding('read', 'admin') })));
      expect(missing.reason).to.equal('scope_missing');
      expect(missing.detail).to.deep.include({ required: 'flight', missing: ['flight'] });
      expect(await gate().admit(call('flight_arm', { principal: holding('flight') }))).to.equal('flight');
      expect(await gate().admit(call('flight_arm'))).to.equal('flight');
      expect(await gate().admit(call('status_get', { principal: holding('read') }))).to.equal('read');
      expect(node.asked.filter((asked) => asked.includes(CONFIG))).to.have.length(2);
      node.says.clear();
      expect((await denied(gate().admit(call('flight_arm')))).reason).to.equal('ws_proxy_enforce_off');
      expect(await gate().admit(call('status_get')), 'no flight').to.equal('read');
    });

    it('a second scope of a tool is needed besides its own', async () => {
      const secret = { ...tool('status_get'), alsoNeeds: 'secret_read' } as Tool;
      const principal: Principal = { ...TOKEN, scopes: ['read'] };
      const refused = await denied(gate().admit(call('status_get', { tool: secret, principal })));
      expect(refused.detail['missing']).to.deep.equal(['secret_read']);
      const both: Principal = { ...TOKEN, scopes: ['read', 'secret_read'] };
      expect(await gate().admit(call('status_get', { tool: secret, principal: both }))).to.equal('read');
    });

    it('a tool that needs flight besides needs the guard too', async () => {
      const flying = { ...tool('status_get'), alsoNeeds: 'flight' } as Tool;
      node.says.clear();
      const refused = await denied(gate().admit(call('status_get', { tool: flying })));
      expect(refused.reason).to.equal('ws_proxy_enforce_off');
    });

    it('what none of them gives is refused with who may; the key’s is left to who opened the socket', async () => {
      const every: Principal = { ...TOKEN, scopes: [...SCOPES] };
      const socket: Principal = { ...TOKEN, kind: 'socket', scopes: null };
      const set = (key: string, principal: Principal): GateCall =>
        call('config_set', { principal, args: { key, value: 'true' } });
      for (const principal of [every, socket]) {
        const root = await denied(gate().admit(set('mcp.token_accept_enabled', principal)));
        expect(root.detail).to.deep.include({ required: 'root', missing: ['root'] });
        expect(root.message).to.match(/^mcp\.token_accept_enabled .+\. Nobody writes it from here/);
      }
      const key = await denied(gate().admit(set('security.api.cors_enabled', every)));
      expect(key.detail).to.deep.include({ required: 'keyonly', granted: every.scopes });
      expect(key.message).to.match(/\. A person may write it with the pairing key/);
      expect(await gate().admit(set('security.api.cors_enabled', socket))).to.equal('destructive');
      expect(await gate().admit(set('logging.store.max_age_days', every))).to.equal('destructive');
      expect(await gate().admit(set('agent.name', every))).to.equal('admin');
    });

    it('whatever sends a command counts as flight, also with another class', () => {
      expect(affectsFlight(tool('flight_arm'), 'destructive')).to.equal(true);
      expect(affectsFlight(tool('params_set'), 'flight')).to.equal(true);
      expect(affectsFlight(tool('params_set'), 'admin')).to.equal(false);
      expect(affectsFlight(tool('status_get'), 'read')).to.equal(false);
    });
  });

  it('what only reads, or is safe, needs no confirmation', async () => {
    for (const scope of ['read', 'secret_read', 'safe_write'] as const) {
      const { grant, ...verdict } = passed(await gate().judge(call('status_get'), scope));
      expect(verdict).to.deep.equal({ kind: 'pass', scope });
      expect(grant).to.include({ by: null, clientId: null, code: null });
      await grant.take();
      grant.settle(true);
    }
  });

  describe('administration', () => {
    const judge = async (change: Partial<GateCall>): Promise<Verdict> =>
      gate().judge(call('config_set', change), 'admin');

    it('a person who can be asked is asked, whatever the argument says', async () => {
      const asked = await judge({ canAsk: true, args: { name: 'x', password: 'hush', confirm: true } });
      expect(asked).to.include({ kind: 'ask', scope: 'admin' });
      const question = asked.kind === 'ask' ? asked.question : '';
      expect(question).to.include('config_set').and.to.include('n1').and.to.include('"x"');
      expect(question).to.not.include('hush');
    });
    it('what the person said counts, also against the argument', async () => {
      const yes = passed(await judge({ canAsk: true, elicited: true }));
      expect([yes.scope, yes.grant.by]).to.deep.equal(['admin', 'elicitation']);
      const no = await denied(judge({ canAsk: true, elicited: false, args: { confirm: true } }));
      expect([no.reason, no.message]).to.deep.equal(['confirm_required', 'The user did not agree.']);
    });
    it('where nobody can be asked it is signed like a flight: no argument of a model counts', async () => {
      for (const confirm of [undefined, true, 'true', 'CONFIG.SET ON THIS NODE', 1, 'yes']) {
        const refused = await denied(judge({ args: { key: 'agent.name', value: 'x', confirm } }));
        expect(refused.reason, String(confirm)).to.equal('operator_present_stale');
        expect(refused.message).to.include('svc operator confirm');
      }
    });
  });

  describe('flight', () => {
    const judge = async (change: Partial<GateCall> = {}, by = gate()): Promise<Verdict> =>
      by.judge(call('flight_arm', change), 'flight');
    const hold = async (age: number): Promise<void> => {
      const { boot_id, uptime } = bootTime();
      await renewPresence(files, { boot_id, uptime: uptime - age }, 1);
    };
    /** `svc operator hold`, as far as it is shown calls. */
    let shown: ShownCall[];
    let holder: Server<typeof OPERATOR>;
    beforeEach(async () => {
      shown = [];
      holder = operatorSigner({
        files,
        path: files.holdSocket,
        how: 'hold',
        allow: async () => Promise.resolve(),
        show: (each) => shown.push(each),
        onError: () => undefined,
      });
      await holder.start();
    });
    afterEach(async () => holder.stop());

    it('nobody is there: refused, with a code for this one call', async () => {
      const refused = await denied(judge());
      expect(refused.reason).to.equal('operator_present_stale');
      const code = String(refused.detail['confirm_id']);
      expect(refused.message)
        .to.include(`svc operator confirm ${code}`)
        .and.to.include('No operator is present');
      expect(pendingCall(files, code, bootTime())).to.include({
        tool: 'flight_arm',
        node: 'n1',
        fleet: false,
      });
      node.presence = { online: true, seenAt: null, status: null, alarm: null };
      const over = String((await denied(judge())).detail['confirm_id']);
      expect(pendingCall(files, over, bootTime()), 'over the fleet').to.include({ fleet: true });
    });

    it('an operator who holds is enough until ten seconds after the last sign of life', async () => {
      await hold(STALE_S - 2);
      const { scope, grant } = passed(await judge());
      expect([scope, grant.by, grant.clientId, grant.code]).to.deep.equal(['flight', 'presence', null, null]);
      expect(await reasonOf(grant.take)).to.equal(null);
      expect(shown).to.deep.equal([{ tool: 'flight_arm', node: 'n1', args: '{}' }]);
      for (const length of [1000, 1001]) {
        const text = 'x'.repeat(length - '{"text":""}'.length);
        await passed(await judge({ args: { text } })).grant.take();
        const args = length === 1000 ? `{"text":"${text}"}` : `{"text":"${text}"…`;
        expect(shown.at(-1), `${length} characters`).to.deep.include({ args });
      }
      await hold(STALE_S + 1);
      expect((await denied(judge())).reason).to.equal('operator_present_stale');
    });

    it('is not enough for the safety net, nor for a fence: each such call is signed by itself', async () => {
      await hold(0);
      for (const [name, args] of [
        ['params_set', { name: 'FENCE_ENABLE', value: 0 }],
        ['params_set', { name: 'ARMING_CHECK', value: 0 }],
        ['mission_upload', { part: 'fence', document: { items: [] } }],
        ['mission_upload', { document: { items: [{ frame: 3, command: 208, param1: 2 }] } }],
      ] as const) {
        const { summary: _ofTheNode, ...silent } = tool(name);
        const asked = call(name, { args, tool: silent });
        const refused = await denied(gate().judge(asked, await gate().admit(asked)));
        expect(refused.reason, name).to.equal('confirm_required');
        expect(refused.detail['confirm_id'], name).to.be.a('string');
      }
      expect(shown).to.deep.equal([]);
      const flown = call('params_set', { args: { name: 'RTL_ALT', value: 1500 } });
      expect(passed(await gate().judge(flown, await gate().admit(flown))).grant.by).to.equal('presence');
    });

    it('and is looked for a second time, when the call goes', async () => {
      await hold(0);
      const { grant } = passed(await judge());
      await hold(STALE_S + 1);
      expect(await reasonOf(grant.take), 'too old by then').to.equal('operator_present_stale');
      await hold(0);
      expect(await reasonOf(grant.take)).to.equal(null);
      await endPresence(files);
      expect(await reasonOf(grant.take), 'gone by then').to.equal('operator_present_stale');
    });

    it('a sign that cannot be read is none, and is said', async () => {
      await writeFile(files.presence, 'null', { mode: 0o600 });
      const { said, log } = listening();
      expect((await denied(judge({}, gate({}, log)))).reason).to.equal('operator_present_stale');
      expect(said.join()).to.include('operator signal');
    });

    it('a pilot in command is enough, in their name, for ten seconds and no longer', async () => {
      node.says.set(PILOT, { claimed_by: 'tablet', by: 'session' });
      const { scope, grant } = passed(await judge());
      expect([scope, grant.by, grant.clientId]).to.deep.equal(['flight', 'presence', 'tablet']);
      now += STALE_S * 1000;
      expect(await reasonOf(grant.take)).to.equal(null);
      now += 1;
      expect(await reasonOf(grant.take)).to.equal('operator_present_stale');
    });

    it('a simulator needs nobody', async () => {
      node.says.set(STATUS, { fc_simulated: true });
      const { scope, grant } = passed(await judge({}, gate({ simulator: true })));
      expect([scope, grant.by]).to.deep.equal(['flight', 'simulator']);
      node.says.set(STATUS, { fc_simulated: false });
      await denied(judge({}, gate({ simulator: true })));
    });

    it('what cannot be carried out is not filed for a signature', async () => {
      const saying = (error: Error): Tool => ({
        ...tool('flight_arm'),
        summary: () => {
          throw error;
        },
      });
      const bad = new ApiError('E_INVALID_VALUE', 'too far', { max_m: 2000 });
      const refused = await denied(judge({ tool: saying(bad) }));
      expect([refused.reason, refused.message]).to.deep.equal(['invalid_arguments', 'too far']);
      expect(refused.detail).to.deep.equal({ max_m: 2000 });
      const bug = await judge({ tool: saying(new Error('a bug')) }).then(String, (error: Error) => error);
      expect(bug).to.be.an('error').with.property('message', 'a bug');
      expect(bug).to.not.be.instanceOf(Denial);
      const { summary: _none, ...plain } = tool('flight_arm');
      const code = String((await denied(judge({ tool: plain }))).detail['confirm_id']);
      expect(pendingCall(files, code, bootTime())).to.not.have.property('summary');
      node.says.set('/api/status', 'up and away');
      const told: Tool = {
        ...plain,
        summary: async (_args, ask) => String(await ask(rowOf('status.get'))),
      };
      const other = String((await denied(judge({ tool: told }))).detail['confirm_id']);
      expect(pendingCall(files, other, bootTime())).to.include({ summary: 'up and away' });
    });

    describe('signed', () => {
      const filed = async (args: Record<string, unknown> = {}): Promise<string> =>
        String((await denied(judge({ args }))).detail['confirm_id']);
      const signed = async (args: Record<string, unknown> = {}): Promise<string> => {
        const code = await filed(args);
        const pending = pendingCall(files, code, bootTime());
        if (pending === null) throw new Error('nothing waits');
        await signCall(files, pending, bootTime());
        return code;
      };

      it('needs no code of whoever repeats the call as it was: not of another caller, not for another call, once', async () => {
        const one = gate();
        const code = String((await denied(judge({}, one))).detail['confirm_id']);
        expect((await denied(judge({}, one))).reason, 'not signed yet').to.equal('operator_present_stale');
        const again = String((await denied(judge({}, one))).detail['confirm_id']);
        for (const each of [code, again]) {
          const pending = pendingCall(files, each, bootTime());
          if (pending !== null) await signCall(files, pending, bootTime());
        }
        await denied(judge({ principal: { ...SOCKET, id: 'another' } }, one));
        await denied(judge({ args: { force: true } }, one));
        await denied(judge({}, gate()));
        const { grant } = passed(await judge({}, one));
        expect([grant.by, grant.code]).to.deep.equal(['signature', again]);
        await grant.take();
        grant.settle(true);
        await denied(judge({}, one));
      });

      it('counts once, in either case of its letters', async () => {
        const code = await signed();
        const { scope, grant } = passed(await judge({ args: { confirm_id: code.toLowerCase() } }));
        expect([scope, grant.by, grant.clientId, grant.code]).to.deep.equal([
          'flight',
          'signature',
          null,
          code,
        ]);
        const again = passed(await judge({ args: { confirm_id: code } }));
        expect(await reasonOf(grant.take)).to.equal(null);
        expect(await reasonOf(again.grant.take), 'taken by the first').to.equal('confirm_required');
        grant.settle(true);
        expect(await reasonOf(again.grant.take), 'used').to.equal('confirm_required');
        expect((await denied(judge({ args: { confirm_id: code } }))).reason).to.equal('confirm_required');
      });

      it('comes back when the call was not carried out', async () => {
        const code = await signed();
        const { grant } = passed(await judge({ args: { confirm_id: code } }));
        await grant.take();
        grant.settle(false);
        expect(await reasonOf(passed(await judge({ args: { confirm_id: code } })).grant.take)).to.equal(null);
      });

      it('is looked at a second time, when the call goes', async () => {
        const code = await signed();
        const { grant } = passed(await judge({ args: { confirm_id: code } }));
        await rm(files.signed, { recursive: true });
        expect(await reasonOf(grant.take)).to.equal('confirm_required');
        grant.settle(false); // of one that was never taken: nothing
        const other = await signed();
        const later = passed(await judge({ args: { confirm_id: other } }));
        await chmod(`${files.signed}/${other}.json`, 0o666);
        expect(await reasonOf(later.grant.take), 'others could write it by then').to.equal(
          'confirm_required',
        );
      });

      it('not signed, for other arguments, for another node, or no code at all: refused, also with an operator there', async () => {
        const [code, good] = [await filed(), await signed()];
        await hold(0);
        for (const [what, change] of [
          ['not signed', { args: { confirm_id: code } }],
          ['no code', { args: { confirm_id: '../../etc' } }],
          ['empty', { args: { confirm_id: '' } }],
          ['a number', { args: { confirm_id: 7 } }],
        ] as const) {
          const refused = await denied(judge(change));
          expect([refused.reason, refused.message.slice(0, 25)], what).to.deep.equal([
            'confirm_required',
            'This call was not signed,',
          ]);
        }
        await denied(judge({ args: { confirm_id: good, altitude: 7 } }));
        await denied(judge({ args: { confirm_id: good }, node: new SaidNode('n2') }));
        passed(await judge({ args: { confirm_id: good } }));
      });

      it('that others could write is none, and is said', async () => {
        const code = await signed();
        for (const file of await readdir(files.signed)) await chmod(`${files.signed}/${file}`, 0o666);
        const { said, log } = listening();
        const refused = await denied(judge({ args: { confirm_id: code } }, gate({}, log)));
        expect(refused.reason).to.equal('confirm_required');
        expect(said.join()).to.include('signed confirm').and.to.include('by others');
      });

      it('that cannot be given back stays taken, and is said', async () => {
        const code = await signed();
        const { said, log } = listening();
        const { grant } = passed(await judge({ args: { confirm_id: code } }, gate({}, log)));
        await grant.take();
        await rm(files.signed, { recursive: true });
        await writeFile(files.signed, '');
        grant.settle(true);
        expect(said.join()).to.include('signed confirm');
      });
    });
  });

  describe('what destroys', () => {
    const stop = [...TOOLS.values()].find(
      ({ least, phrase }) => least === 'destructive' && phrase !== undefined,
    );
    const name = stop?.name ?? '';
    const phrase = stop?.phrase ?? '';
    const judge = async (args: Record<string, unknown>, by = gate(), change: Partial<GateCall> = {}) =>
      by.judge(call(name, { args, ...change }), 'destructive');

    it('needs the words of its description, exactly', async () => {
      for (const confirm of [undefined, true, '', phrase.toLowerCase(), `${phrase} `]) {
        const refused = await denied(judge({ confirm }));
        expect(refused.reason).to.equal('confirm_required');
        expect(refused.message).to.not.include(phrase);
        expect(refused.detail).to.not.have.property('confirm_id');
      }
      const { phrase: _none, ...wordless } = tool(name);
      const refused = await denied(judge({ confirm: undefined }, gate(), { tool: wordless }));
      expect(refused.message).to.include('words');
    });

    it('and a signature besides: no operator, pilot or person who was asked replaces it', async () => {
      await renewPresence(files, bootTime(), 1);
      node.says.set(PILOT, { claimed_by: 'tablet', by: 'key' });
      const refused = await denied(judge({ confirm: phrase }, gate(), { elicited: true, canAsk: true }));
      expect(refused.reason).to.equal('confirm_required');
      const code = String(refused.detail['confirm_id']);
      expect(refused.message).to.include(code).and.to.not.include('No operator');
      const pending = pendingCall(files, code, bootTime());
      if (pending === null) throw new Error('nothing waits');
      await signCall(files, pending, bootTime());
      await denied(judge({ confirm: '', confirm_id: code }));
      const { scope, grant } = passed(await judge({ confirm: phrase, confirm_id: code }));
      expect([scope, grant.by, grant.code]).to.deep.equal(['destructive', 'signature', code]);
    });

    it('a simulator needs the words and no signature', async () => {
      node.says.set(STATUS, { fc_simulated: true });
      const { scope, grant } = passed(await judge({ confirm: phrase }, gate({ simulator: true })));
      expect([scope, grant.by]).to.deep.equal(['destructive', 'simulator']);
      await denied(judge({ confirm: 'x' }, gate({ simulator: true })));
    });
  });
});
