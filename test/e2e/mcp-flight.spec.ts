import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { bootTime } from '../../shared/boot-clock.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { callTool, connectStdio, runConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable, gonePath, telemetry } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };
const CONFIG = 'mcp:\n  token_accept_enabled: true\n';

describe('an AI client flies', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  let token: string;
  before(async () => {
    home = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY }, config: CONFIG });
    token = await mint(node);
    await positioned(node);
  });
  after(async () => {
    await node.stop();
    await removeDir(home);
  });

  const connect = async (...args: readonly string[]): Promise<Client> =>
    connectStdio({ args: ['--target', 'agent', node.url, '--token', token, ...args], home }, () => true);
  const reason = async (client: Client, tool: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    (await callTool(client, tool, args)).value['reason'];

  /** The person, in a terminal beside the aircraft: `script` is one. */
  async function hold(): Promise<() => Promise<void>> {
    const env = { ...process.env, SVC_OPERATOR_DIR: join(home, 'operator') };
    const command = `${process.execPath} ${join(ROOT, 'bin/svc.js')} operator hold`;
    const person = spawn('script', ['-qefc', command, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(person.stdout)) if (line.includes('stand by')) break;
    return async () => {
      const gone = once(person, 'exit');
      person.stdin.write('\u0003'); // Ctrl-C
      await gone;
    };
  }

  it('K6 a flight token without --flight-enforced: no flight tools, and a call is refused', async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.not.include('flight_arm');
    expect(await reason(client, 'flight_arm')).to.equal('ws_proxy_enforce_off');
    await client.close();
  });

  it('list, look, fail without the operator, then arm, take off and land while a person stands by', async () => {
    const client = await connect('--flight-enforced');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.include.members([
      'flight_arm',
      'flight_takeoff',
      'flight_land',
      'mission_start',
    ]);
    expect((await callTool(client, 'telemetry_snapshot')).value).to.include({ armed: false });
    expect(await reason(client, 'flight_arm')).to.equal('operator_present_stale');
    const leave = await hold();
    expect((await callTool(client, 'flight_mode', { mode: 'GUIDED' })).value).to.include({ ok: true });
    const armed = await callTool(client, 'flight_arm');
    expect(armed.value, JSON.stringify(armed.value)).to.include({ ok: true, acked: true, accepted: true });
    const up = await callTool(client, 'flight_takeoff', { altitude_m: 5 });
    expect(up.value, JSON.stringify(up.value)).to.include({ ok: true, done: true, ended: 'reached' });
    const { position } = await telemetry(node, () => true, KEYED);
    expect((position as { alt_rel: number }).alt_rel).to.be.within(4, 7);
    expect(await reason(client, 'params_set', { name: 'FS_THR_ENABLE', value: 0 })).to.equal(
      'armed_guard', // nobody is asked to sign what the guard refuses
    );
    const guarded = await callTool(client, 'params_set', { name: 'RTL_ALT', value: 2000 });
    expect(guarded.value['reason'], JSON.stringify(guarded.value)).to.equal('armed_guard');
    const down = await callTool(client, 'flight_land');
    expect(down.value, JSON.stringify(down.value)).to.include({ ok: true, done: true });
    expect((await callTool(client, 'telemetry_snapshot')).value).to.include({ armed: false });
    await leave();
    expect(await reason(client, 'flight_rtl'), 'the person left').to.equal('operator_present_stale');
    await client.close();
    const audit = await readFile(join(home, 'audit/audit.ndjson'), 'utf8');
    expect(audit).to.match(/"tool":"flight_arm".*"decision":"operator_absent"/);
    expect(audit).to.match(/"tool":"flight_arm".*"decision":"confirmed"/);
    expect(audit).to.not.include(token);
  });

  it('an agreement of the client’s user is not enough for flight', async () => {
    const client = await connect('--flight-enforced');
    expect(await reason(client, 'flight_arm', { confirm: true })).to.equal('operator_present_stale');
    await client.close();
  });

  it('K6 one call signed by a person: that call once, no other, and not spent by a call that fails for another reason', async () => {
    const client = await connect('--flight-enforced');
    const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
    const first = await callTool(client, 'flight_mode', { mode: 'LOITER' });
    const code = String(first.value['confirm_id']);
    expect(first.value).to.include({ reason: 'operator_present_stale' });
    const waiting = pendingCall(files, code, bootTime());
    expect(waiting).to.deep.include({ tool: 'flight_mode', args: { mode: 'LOITER' } });
    if (waiting === null) return;
    expect(
      await reason(client, 'flight_mode', { mode: 'LOITER', confirm_id: code }),
      'not signed yet',
    ).to.equal('confirm_required');
    await ensureOperatorKey(files);
    await signCall(files, waiting, bootTime());
    expect(
      await reason(client, 'flight_mode', { mode: 'RTL', confirm_id: code }),
      'other arguments',
    ).to.equal('confirm_required');
    expect(await reason(client, 'flight_land', { confirm_id: code }), 'another tool').to.equal(
      'confirm_required',
    );
    expect(await reason(client, 'flight_mode', { mode: '', confirm_id: code }), 'bad arguments').to.equal(
      'invalid_arguments',
    );
    const done = await callTool(client, 'flight_mode', { mode: 'LOITER', confirm_id: code });
    expect(done.value, JSON.stringify(done.value)).to.include({ ok: true });
    expect(await reason(client, 'flight_mode', { mode: 'LOITER', confirm_id: code }), 'replayed').to.equal(
      'confirm_required',
    );
    await client.close();
  });

  it('destructive needs the words and the signature; neither alone is enough', async () => {
    const client = await connect('--flight-enforced');
    const phrase = 'EMERGENCY STOP THIS AIRCRAFT';
    for (const args of [{}, { confirm: true }, { confirm: 'emergency stop this aircraft' }]) {
      const { value } = await callTool(client, 'flight_emergency_stop', args);
      expect(value['reason'], JSON.stringify(args)).to.equal('confirm_required');
      expect(JSON.stringify(value)).to.not.include(phrase);
    }
    const { value } = await callTool(client, 'flight_emergency_stop', { confirm: phrase });
    expect(value).to.include({ reason: 'confirm_required' }).and.have.property('confirm_id');
    await client.close();
  });

  it('an endpoint that lets ground stations past the guard turns flight tools off, whatever was declared', async () => {
    const open = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `${CONFIG}mavlink:\n  source: udp:127.0.0.1:1\n  endpoints: ['udp:127.0.0.1:24550?force=1']\n`,
    });
    try {
      const other = await mint(open);
      const client = await connectStdio({
        args: ['--target', 'agent', open.url, '--token', other, '--flight-enforced'],
        home,
      });
      expect(await reason(client, 'flight_arm')).to.equal('ws_proxy_enforce_off');
      await client.close();
    } finally {
      await open.stop();
    }
  });

  describe('--sim', () => {
    it('flies there and back: near the place, cancelled without an effect on the flight, home on the ground', async () => {
      await using sim = await SimProcess.start('--speedup', '4'); // it returns slowly
      const simulated = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `${CONFIG}mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
      });
      try {
        const own = await mint(simulated);
        await positioned(simulated);
        const args = ['--target', 'agent', simulated.url, '--token', own, '--sim'];
        const client = await connectStdio({ args, home, key: KEY });
        expect((await callTool(client, 'flight_mode', { mode: 'RTL' })).isError).to.equal(false);
        const refused = await callTool(client, 'flight_arm');
        expect([refused.isError, refused.value['accepted']]).to.deep.equal([true, false]);
        expect(refused.value['message']).to.match(/^The vehicle refused arm \(\w+\)\. reason has/);
        expect(refused.value['reason']).to.match(/^Arm: .*not armable/);
        await telemetry(simulated, ({ statustext }) => JSON.stringify(statustext).includes('Arm: '), KEYED);
        const check = await callTool(client, 'flight_check');
        expect(check.value).to.deep.include({ can_arm: false, help: ['GUIDED', 'STABILIZE'] });
        expect(JSON.stringify(check.value['warnings'])).to.include(String(refused.value['reason']));

        await callTool(client, 'flight_mode', { mode: 'GUIDED' });
        await callTool(client, 'flight_arm');
        const cancel = new AbortController();
        const climb = client.callTool(
          { name: 'flight_takeoff', arguments: { altitude_m: 8 } },
          { signal: cancel.signal, onprogress: () => cancel.abort() },
        );
        expect(await climb.catch((error: unknown) => error)).to.be.instanceOf(Error);
        const above = await callTool(client, 'wait_until', { altitude_above_m: 7 });
        expect(above.value, 'it climbs on').to.include({ met: true });

        const begin = (await callTool(client, 'telemetry_snapshot')).value['home'] as Record<string, number>;
        const place = { lat: (begin['lat'] ?? 0) + 0.0002, lon: begin['lon'] ?? 0 };
        const there = await callTool(client, 'flight_goto', { ...place, alt_m: 8 });
        expect(there.value, JSON.stringify(there.value)).to.include({ done: true });
        const near = { ...place, distance_below_m: 5, timeout_s: 2 };
        expect((await callTool(client, 'wait_until', near)).value).to.include({ met: true });
        const back = await callTool(client, 'flight_rtl', { timeout_s: 120 });
        expect(back.value, JSON.stringify(back.value)).to.include({ done: true });
        expect((await callTool(client, 'telemetry_snapshot')).value).to.include({ armed: false });
        await client.close();
      } finally {
        await simulated.stop();
      }
    });

    it('lifts the operator for a simulator, and only while it is one', async () => {
      const simulated = await TestNode.start({ pairing: { key: KEY }, config: CONFIG });
      try {
        const own = await mint(simulated);
        await positioned(simulated);
        const args = ['--target', 'agent', simulated.url, '--token', own, '--sim'];
        const client = await connectStdio({ args, home, key: KEY });
        expect((await callTool(client, 'flight_arm')).value).to.include({ ok: true });
        expect((await callTool(client, 'flight_disarm')).value).to.include({ ok: true });
        const lists = new EventEmitter();
        client.setNotificationHandler('notifications/tools/list_changed', () => {
          lists.emit('changed');
        });
        const names = async (): Promise<readonly string[]> =>
          (await client.listTools()).tools.map(({ name }) => name);
        // K7 What was a simulator is gone: nothing says that it is one.
        process.kill(simulated.pid('svc-link'), 'SIGKILL');
        const seen: unknown[] = [];
        while (!seen.includes('ws_proxy_enforce_off') && seen.length < 200)
          seen.push(await reason(client, 'flight_land'));
        expect(seen).to.include('ws_proxy_enforce_off');
        // For good: the list of tools goes with it.
        await writeFile(
          simulated.paths.config,
          (await readFile(simulated.paths.config, 'utf8')).replace('source: sim', 'source: udp:127.0.0.1:1'),
        );
        await gonePath(simulated.paths.heldConfig); // what was armed a moment ago keeps its source
        await simulated.post('/api/v1/system/restart-supervisor', { force: true }, KEYED);
        for (let changed = once(lists, 'changed'); (await names()).includes('flight_arm'); ) {
          await changed;
          changed = once(lists, 'changed');
        }
        await client.close();
      } finally {
        await simulated.stop();
      }
    });

    it('K7 refuses to start where the flight controller is not known to be a simulator', async () => {
      const real = await TestNode.start({ pairing: { key: KEY }, simulated: false });
      try {
        const args = ['--target', 'agent', real.url, '--sim', '--transport', 'stdio'];
        const { code, stderr } = await runConnector({ args, home, key: KEY });
        expect(code).to.equal(1);
        expect(stderr).to.include('does not say that its flight controller is a simulator');
      } finally {
        await real.stop();
      }
    });
  });
});

async function mint(node: TestNode): Promise<string> {
  const scopes = ['read', 'safe_write', 'admin', 'flight', 'destructive'];
  const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'flight' }, KEYED);
  return String(body['token']);
}

async function positioned(node: TestNode): Promise<void> {
  await armable(node, KEYED);
}
