import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { bootTime } from '../../shared/boot-clock.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { callTool, connectStdio, HttpConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { gone } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { forgedToken, type StubAnswer, StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

type Json = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';

/** One call of the 2026 protocol, by hand, to a URL or a Unix socket. */
async function modern(place: RequestOptions, params: Json, capabilities: Json): Promise<Json> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const call = request({
    path: '/mcp',
    method: 'POST',
    ...place,
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': String(params['name']),
      ...place.headers,
    },
  });
  call.end(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }),
  );
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const said = await text(answer);
  return (JSON.parse(/^data: (\{.*\})$/m.exec(said)?.[1] ?? said) as { result: Json }).result;
}

describe('the connector, to whom it must not yield', function () {
  this.timeout(120_000);
  let home: string;
  let stub: StubNode;
  beforeEach(async () => {
    home = await tempDir();
    stub = await StubNode.start();
  });
  afterEach(async () => {
    await stub.leave();
    await removeDir(home);
  });

  const reason = async (client: Client, tool: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    (await callTool(client, tool, args)).value['reason'];
  const audit = async (): Promise<Json[]> =>
    (await readFile(join(home, 'audit/audit.ndjson'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);

  describe('a forged token, while the node is unpaired', () => {
    let node: TestNode;
    let forged: string;
    before(async () => {
      node = await TestNode.start({ simulated: false });
      forged = forgedToken((await readFile(node.paths.deviceId, 'utf8')).trim(), ['read', 'admin']);
    });
    after(async () => node.stop());

    it('is no credential over HTTP', async () => {
      await using connector = await HttpConnector.start({ args: ['--target', 'agent', node.url], home });
      for (const bearer of [forged, stub.token('read')]) {
        const answer = await fetch(connector.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
          body: '{}',
        });
        expect([answer.status, ((await answer.json()) as Json)['error']]).to.deep.equal([
          401,
          'token_invalid',
        ]);
      }
    });

    it('nor as the launch principal', async () => {
      const client = await connectStdio({ args: ['--target', 'agent', node.url, '--token', forged], home });
      expect(await reason(client, 'status_get')).to.equal('token_invalid');
      await client.close();
    });
  });

  describe('--flight-enforced', () => {
    const fly = async (key: string | null, ...scopes: string[]): Promise<Client> => {
      const args = ['--target', 'agent', stub.url, '--flight-enforced', '--token', stub.token(...scopes)];
      return connectStdio({ args, home, ...(key === null ? {} : { key }) });
    };
    /** Only the key may read the config. */
    const byKey =
      (...endpoints: string[]) =>
      (req: IncomingMessage): StubAnswer =>
        req.headers['x-svc-key'] === KEY
          ? [200, { mavlink: { endpoints } }]
          : [403, { code: 'E_SCOPE', detail: 'no', required: 'read', granted: [] }];

    it('is checked with the key of the connector, whatever the caller may read', async () => {
      stub.answers.set('GET /api/config', byKey());
      const closed = await fly(KEY, 'flight');
      expect(await reason(closed, 'flight_arm')).to.equal('operator_present_stale');
      await closed.close();
      stub.answers.set('GET /api/config', byKey('udp:0.0.0.0:14550?force=1'));
      const open = await fly(KEY, 'flight');
      expect(await reason(open, 'flight_arm')).to.equal('ws_proxy_enforce_off');
      await open.close();
    });

    it('the pilot in command at a ground station is present, if a person claimed it; the call goes in that name', async () => {
      const names: (string | string[] | undefined)[] = [];
      stub.answers.set('GET /api/config', byKey());
      stub.answers.set('POST /api/command', (req) => {
        names.push(req.headers['x-svc-client-id']);
        return [200, { status: 'accepted', ack: { observed: true, accepted: true } }];
      });
      const client = await fly(KEY, 'flight');
      const pic = '/api/v1/ground-station/pic';
      for (const by of ['token', null]) {
        stub.answers.set(`GET ${pic}`, [200, { claimed_by: 'agent', by }]);
        expect(await reason(client, 'flight_arm'), String(by)).to.equal('operator_present_stale');
      }
      stub.answers.set(`GET ${pic}`, [200, { claimed_by: null, by: null }]);
      expect(await reason(client, 'flight_arm')).to.equal('operator_present_stale');
      for (const by of ['key', 'session']) {
        stub.answers.set(`GET ${pic}`, [200, { claimed_by: 'tablet', by }]);
        expect(await reason(client, 'flight_arm'), by).to.equal(null);
      }
      expect(names).to.deep.equal(['tablet', 'tablet']);
      stub.answers.delete(`GET ${pic}`);
      await client.close();
    });

    it('is not believed where it cannot be checked', async () => {
      stub.answers.set('GET /api/config', byKey());
      const client = await fly(null, 'flight');
      expect(await reason(client, 'flight_arm')).to.equal('ws_proxy_enforce_off');
      await client.close();
    });

    it('no answer is not remembered as one', async () => {
      stub.answers.set('GET /api/config', [503, { code: 'E_UPSTREAM_DOWN', detail: 'away' }]);
      const client = await fly(KEY, 'flight');
      expect(await reason(client, 'flight_arm')).to.equal('ws_proxy_enforce_off');
      stub.answers.set('GET /api/config', [200, { mavlink: { endpoints: ['udp:0.0.0.0:14550?force=1'] } }]);
      expect(await reason(client, 'flight_arm'), 'an open endpoint').to.equal('ws_proxy_enforce_off');
      await client.close();
      stub.answers.set('GET /api/config', [503, { code: 'E_UPSTREAM_DOWN', detail: 'away' }]);
      const other = await fly(KEY, 'flight');
      expect(await reason(other, 'flight_arm')).to.equal('ws_proxy_enforce_off');
      stub.answers.set('GET /api/config', [200, { mavlink: { endpoints: [] } }]);
      expect(await reason(other, 'flight_arm'), 'it answers again').to.equal('operator_present_stale');
      await other.close();
    });
  });

  describe('an agreement', () => {
    const CAN_ASK = { elicitation: { form: {} } };
    const agreed = { confirm: { action: 'accept', content: { allow: true } } };
    const rename = { name: 'config_set', arguments: { key: 'agent.name', value: 'x' } };

    it('counts once, and the audit says what confirmed', async () => {
      await using connector = await HttpConnector.start({
        args: ['--target', 'agent', stub.url],
        home,
        key: KEY,
      });
      const place = {
        port: new URL(connector.url).port,
        headers: { authorization: `Bearer ${stub.token('admin')}` },
      };
      const call = async (params: Json): Promise<Json> => modern(place, params, CAN_ASK);
      const writes = (): number => stub.came.filter((came) => came === 'PUT /api/config').length;
      const asked = await call(rename);
      expect(asked).to.include({ resultType: 'input_required' });
      const answered = { ...rename, requestState: asked['requestState'], inputResponses: agreed };
      expect((await call(answered))['isError'] ?? false).to.equal(false);
      expect(writes()).to.equal(1);
      expect(await call(answered), 'repeated').to.include({ resultType: 'input_required' });
      expect(writes()).to.equal(1);
      const events = (await audit()).filter(({ confirmedBy }) => confirmedBy === 'elicitation');
      expect(events.map(({ phase }) => phase)).to.deep.equal(['announced', 'settled']);
    });

    it('for one node is none for another', async () => {
      await using other = await StubNode.start('other');
      const nodes = [stub, other].map(({ deviceId, url }) => ({ id: deviceId, host: url, key: KEY }));
      const file = join(home, 'fleet.json');
      await writeFile(file, JSON.stringify({ nodes }), { mode: 0o600 });
      await using connector = await HttpConnector.start({ args: ['--target', 'local-fleet', file], home });
      const { socketPath } = connector; // its caller may use every node
      const on = (node: string): Json => ({ ...rename, arguments: { ...rename.arguments, node } });
      const { requestState } = await modern({ socketPath }, on('stub'), CAN_ASK);
      const moved = { ...on('other'), requestState, inputResponses: agreed };
      expect(await modern({ socketPath }, moved, CAN_ASK)).to.include({ resultType: 'input_required' });
      expect(other.came).to.not.include('PUT /api/config');
    });

    it('by the model itself is none: where nobody can be asked, a person signs', async () => {
      const client = await connectStdio({ args: ['--target', 'agent', stub.url], home, key: KEY });
      for (const args of [rename.arguments, { ...rename.arguments, confirm: true }])
        expect(await reason(client, 'config_set', args)).to.equal('operator_present_stale');
      await client.close();
      expect(stub.came).to.not.include('PUT /api/config');
    });
  });

  describe('a signature', () => {
    it('is not spent on a call that the node did not carry out, and is spent on one that it may have', async () => {
      const args = ['--target', 'agent', stub.url, '--flight-enforced'];
      const client = await connectStdio({
        args: [...args, '--token', stub.token('read', 'flight')],
        home,
        key: KEY,
      });
      const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
      await ensureOperatorKey(files);
      const sign = async (): Promise<string> => {
        const code = String((await callTool(client, 'flight_arm')).value['confirm_id']);
        const waiting = pendingCall(files, code, bootTime());
        if (waiting === null) throw new Error(`nothing waits under ${code}`);
        await signCall(files, waiting, bootTime());
        return code;
      };
      const code = await sign();
      const attempts: readonly [string, StubAnswer, string][] = [
        ['too many requests', [429, { code: 'E_RATE_LIMITED', detail: 'wait' }], 'rate_limited'],
        ['bad arguments', [400, { code: 'E_BAD_REQUEST', detail: 'no' }], 'invalid_arguments'],
        ['no flight controller', [503, { code: 'E_NO_FC', detail: 'no' }], 'fc_unreachable'],
      ];
      for (const [what, answer, wanted] of attempts) {
        stub.answers.set('POST /api/command', answer);
        expect(await reason(client, 'flight_arm', { confirm_id: code }), what).to.equal(wanted);
      }
      await stub.leave();
      expect(await reason(client, 'flight_arm', { confirm_id: code }), 'away').to.equal('rest_down');
      await stub.listen();
      stub.answers.set('POST /api/command', [200, { ack: { observed: true, accepted: true } }]);
      const done = await callTool(client, 'flight_arm', { confirm_id: code });
      expect(done.value, JSON.stringify(done.value)).to.include({ ok: true });
      expect(await reason(client, 'flight_arm', { confirm_id: code })).to.equal('confirm_required');
      const events = await audit();
      expect(events.filter(({ phase }) => phase === 'settled').at(-1)).to.include({
        decision: 'confirmed',
        confirmedBy: 'signature',
      });

      const another = await sign();
      stub.answers.set('POST /api/command', 'drop');
      const dropped = await callTool(client, 'flight_arm', { confirm_id: another });
      expect(dropped.value['message']).to.include('may have carried it out');
      expect(await reason(client, 'flight_arm', { confirm_id: another })).to.equal('confirm_required');
      await client.close();
    });
  });

  describe('a person who stands by', () => {
    const env = (): NodeJS.ProcessEnv => ({
      ...process.env,
      SVC_OPERATOR_DIR: join(home, 'operator'),
      NO_COLOR: '1',
    });
    const hold = async (): Promise<Terminal> => {
      const held = openTerminal([process.execPath, join(ROOT, 'bin/svc.js'), 'operator', 'hold'], env());
      await held.until('stand by');
      return held;
    };
    const flying = async (): Promise<Client> =>
      connectStdio({
        args: ['--target', 'agent', stub.url, '--flight-enforced', '--token', stub.token('read', 'flight')],
        home,
        key: KEY,
      });

    it('is shown each call that they let through: time, tool, node and arguments, without what steers a terminal', async () => {
      const held = await hold();
      const client = await flying();
      await callTool(client, 'telemetry_snapshot');
      const mode = 'AUTO\u202e\u001b[2J\u0007';
      expect((await callTool(client, 'flight_mode', { mode })).value).to.include({ ok: true });
      await callTool(client, 'flight_goto', { lat: 48, lon: 11, alt_m: 9, allow_far: true, wait: false });
      const said = await held.until('flight_goto');
      const shown = said.split(/\r?\n/).filter((line) => line.includes('stub'));
      expect(shown).to.have.length(2);
      expect(shown[0]).to.match(/^\d\d:\d\d:\d\d {2}flight_mode {2}stub {2}\{"mode":"AUTO .*\}$/);
      expect(shown[1]).to.include('{"lat":48,"lon":11,"alt_m":9,"allow_far":true,"wait":false}');
      for (const steers of ['\u202e', '\u0007', '\u001b[2J']) expect(said).not.to.include(steers);
      held.child.kill('SIGKILL');
      await client.close();
    });

    it('who sees nothing any more lets nothing through, though their signal is still fresh', async () => {
      const held = await hold();
      const client = await flying();
      const { pid } = JSON.parse(await readFile(join(home, 'operator/presence.json'), 'utf8')) as {
        pid: number;
      };
      process.kill(pid, 'SIGKILL');
      await gone(pid);
      const { value } = await callTool(client, 'flight_arm');
      expect(value).to.include({ reason: 'operator_present_stale' });
      expect(value['message']).to.include('could not be shown');
      expect(stub.came).to.not.include('POST /api/command');
      held.child.kill('SIGKILL');
      await client.close();
    });
  });

  it('svc operator hold needs a terminal', async () => {
    const env = { ...process.env, SVC_OPERATOR_DIR: join(home, 'operator') };
    const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        [join(ROOT, 'bin/svc.js'), 'operator', 'hold'],
        { env },
        (error, _stdout, stderr) => resolve({ code: error?.code, stderr }),
      );
      child.stdin?.end();
    });
    expect(ended.code).to.equal(2);
    expect(ended.stderr).to.include('in a terminal');
    expect(existsSync(join(home, 'operator/presence.json'))).to.equal(false);
  });

  it('svc operator hold ends with the process that started it, though the terminal stays', async () => {
    const env = { ...process.env, SVC_OPERATOR_DIR: join(home, 'operator') };
    const held = `${process.execPath} ${join(ROOT, 'bin/svc.js')} operator hold`;
    // The inner shell is who holds; the outer one keeps the terminal.
    const terminal = spawn('script', ['-qefc', `sh -c '${held}; true'; sleep 30`, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(terminal.stdout)) if (line.includes('stand by')) break;
    const signal = join(home, 'operator/presence.json');
    const { pid } = JSON.parse(await readFile(signal, 'utf8')) as { pid: number };
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    process.kill(Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]), 'SIGKILL');
    await gone(pid);
    expect(existsSync(signal)).to.equal(false);
    terminal.kill('SIGKILL');
  });
});
