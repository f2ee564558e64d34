import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { bootTime } from '../../shared/boot-clock.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { type PendingCall, pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
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
