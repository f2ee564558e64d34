import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { rowOf } from '../../connector/rows.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import { classOf, type Tool } from '../../connector/tools/tool.ts';
import { PROGRAMS_FILE } from '../../shared/paths.ts';
import {
  answerOf,
  callPatiently,
  callToolPatiently as callTool,
  connectStdio,
  HttpConnector,
  newClient,
  runConnector,
} from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

const CONFIG = "video:\n  source: test\n  radio: ''\nmcp:\n  token_accept_enabled: true\n";

/** What the launcher of the connector may call. */
const launched = (tool: Tool): boolean => !['flight', 'destructive'].includes(classOf(tool));

/** Listed without --toolset. */
const usual = ({ toolset }: Tool): boolean => toolset === undefined;

/** The names of those that a drone with all its features has routes for. */
function servedTools(): readonly string[] {
  return [...compileCatalogue().values()]
    .filter((tool) => usual(tool) && launched(tool) && tool.ofFleet !== true)
    .filter(({ routes }) => routes.map(rowOf).every(({ built, profiles }) => built && profiles.includes('D')))
    .map(({ name }) => name);
}

/** Names of members that are not in the one style of all answers. */
function camelCaseIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(camelCaseIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(/^[a-z]+[A-Z]/.test(name) ? [name] : []),
    ...camelCaseIn(member),
  ]);
}

describe('the connector and a real node', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  let agent: string[];
  const mint = async (...scopes: string[]): Promise<string> => {
    const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'test' }, KEYED);
    return String(body['token']);
  };
  before(async () => {
    home = await tempDir();
    node = await startVideoNode({ config: CONFIG, simulated: true });
    agent = ['--target', 'agent', node.url];
  });
  after(async () => {
    await node.stop();
    await removeDir(home);
  });

  describe('over stdio, launched without a token', () => {
    let client: Client;
    const asked: string[] = [];
    let agrees = true;
    before(async () => {
      client = await connectStdio({ args: agent, home, key: KEY }, (question) => {
        asked.push(question);
        return agrees;
      });
    });
    after(async () => client.close());

    it('lists the tools that this node has routes for, but for the flight and destructive classes', async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(servedTools());
      expect(JSON.stringify(tools).length / 4, 'tokens').to.be.within(1000, 6000);
      for (const tool of tools) {
        expect(tool.inputSchema['type'], tool.name).to.equal('object');
        expect(tool.inputSchema.properties, tool.name).to.not.have.property('node');
      }
      expect(tools.find(({ name }) => name === 'params_set')?.annotations).to.deep.equal({
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      });
    });

    it('a name with dots, as it was, is the same tool; results are compact', async () => {
      const { content } = await client.callTool({ name: 'status.get', arguments: {} });
      expect((content as { text: string }[])[0]?.text).to.match(/^version: [^]*latency_ms: \d+/m);
      const { value } = await callTool(client, 'audit.query', { tool: 'status.get', limit: 1 });
      expect(value['events']).to.have.nested.property('[0].tool', 'status_get');
    });

    it('logs_query goes on with the cursor', async () => {
      const page = async (args: Record<string, unknown>): Promise<[object[], unknown]> => {
        const { value } = await callTool(client, 'logs_query', args);
        return [value['entries'] as object[], value['next_cursor']];
      };
      // Entries come newest first in the order in which they arrived, and more arrive meanwhile: what is behind a cursor stays.
      const [newest, start] = await page({ limit: 1 });
      const [first, cursor] = await page({ limit: 5, cursor: start });
      expect(first).to.have.length(5);
      const [second] = await page({ limit: 5, cursor });
      expect(second.length).to.be.above(0);
      const [whole] = await page({ limit: 10, cursor: start });
      expect([...first, ...second]).to.deep.equal(whole);
      expect(whole).to.not.deep.include(newest[0]);
    });

    it('every read tool answers from the node: a short text, and the whole as structure', async () => {
      const args: Readonly<Record<string, Record<string, unknown>>> = {
        params_get: { name: 'RTL_ALT' },
        logs_aggregate: { metric: 'node.load' },
        tools_show: { family: 'payload' },
        wait_until: { armed: false },
        flight_logs_list: { id: 1 },
        flight_report: { log: 'none.tlog' },
        flight_log_series: { log: 'none.tlog', fields: ['BAT.Volt'] },
        mission_check: { document: { items: [] } },
        mission_build: { kind: 'orbit', lat: 47, lon: 8 },
        flight_plan: { steps: [{ do: 'takeoff', altitude_m: 5 }, { do: 'land' }] },
      };
      const notHere: Readonly<Record<string, string>> = {
        fleet_flights: 'not_supported',
        flight_report: 'not_found',
        flight_log_series: 'not_found',
      };
      await armable(node, KEYED); // a plan begins where the vehicle is
      const reads = [...compileCatalogue().values()].filter((tool) => classOf(tool) === 'read');
      expect(reads.length).to.be.above(20);
      for (const tool of reads) {
        const result = await callPatiently(client, tool.name, args[tool.name]);
        const at = `${tool.name}: ${JSON.stringify(result.content).slice(0, 300)}`;
        const reason = notHere[tool.name];
        if (reason !== undefined) {
          expect(result.isError, at).to.equal(true);
          expect(at).to.include(reason);
          continue;
        }
        expect(result.isError ?? false, at).to.equal(false);
        const [first] = result.content as readonly { readonly text: string }[];
        expect(first?.text.length, at).to.be.below(JSON.stringify(result.structuredContent).length + 200);
        expect(camelCaseIn(result.structuredContent), tool.name).to.deep.equal([]);
      }
    });

    it('a picture comes as an image beside its time', async () => {
      const { kinds, value } = await callTool(client, 'video_snapshot');
      expect(kinds).to.deep.equal(['text', 'image']);
      expect(Date.now() - Date.parse(String(value['captured_at']))).to.be.below(20_000);
    });

    it('an admin call asks the user; agreed it happens, declined it does not', async () => {
      agrees = true;
      const set = await callTool(client, 'config_set', { key: 'agent.name', value: 'alpha' });
      expect(set.value).to.include({ ok: true });
      expect(asked.at(-1)).to.include('config_set').and.include('alpha');
      agrees = false;
      const declined = await callTool(client, 'config_set', { key: 'agent.name', value: 'beta' });
      expect([declined.isError, declined.value['reason']]).to.deep.equal([true, 'confirm_required']);
      const { value } = await callTool(client, 'config_get');
      expect((value['agent'] as { name: string }).name).to.equal('alpha');
    });

    it('confirm: true does not skip a user who can be asked', async () => {
      agrees = false;
      const before = asked.length;
      const rename = { key: 'agent.name', value: 'gamma', confirm: true };
      expect((await callTool(client, 'config_set', rename)).value).to.include({
        reason: 'confirm_required',
      });
      expect(asked.length).to.equal(before + 1);
      agrees = true;
      expect((await callTool(client, 'config_set', rename)).value).to.include({ ok: true });
    });

    const refused: readonly [string, string, Record<string, unknown>, string][] = [
      ['an argument that does not exist', 'status_get', { nod: 'x' }, 'invalid_arguments'],
      ['a value out of bounds', 'params_read_all', { limit: 5000 }, 'invalid_arguments'],
      ['a missing argument', 'params_get', {}, 'invalid_arguments'],
      ['another node', 'status_get', { node: 'elsewhere' }, 'node_not_allowed'],
      ['K6 a flight tool', 'flight_arm', {}, 'scope_missing'],
      ['a destructive tool', 'system_reboot', { confirm: 'REBOOT THIS NODE' }, 'scope_missing'],
      ['a critical parameter', 'params_set', { name: 'FS_THR_ENABLE', value: 0 }, 'scope_missing'],
      ['a security key', 'config_set', { key: 'security.api.cors_enabled', value: 'true' }, 'scope_missing'],
      [
        'root’s key, by its spelling',
        'config_set',
        { key: 'mcp.token_accept_enabled', value: 'true' },
        'scope_missing',
      ],
      ['an unknown parameter', 'params_set', { name: 'NTF_NO_SUCH', value: 1 }, 'not_found'],
      ['an unknown config key', 'config_set', { key: 'no.such', value: '1' }, 'not_found'],
      ['to stop what does not run', 'video_record', { on: false }, 'precondition_failed'],
      [
        'a channel for a radio that is not there',
        'admin_wfb_channel',
        { channel: 36 },
        'precondition_failed',
      ],
    ];
    for (const [what, tool, args, reason] of refused) {
      it(`refuses ${what}: ${reason}`, async () => {
        const { isError, value } = await callTool(client, tool, args);
        expect([isError, value['reason']], JSON.stringify(value)).to.deep.equal([true, reason]);
      });
    }

    it('an unknown tool is a protocol error', async () => {
      const error = await client
        .callTool({ name: 'no.such', arguments: {} })
        .catch((caught: unknown) => caught);
      expect(error).to.include({ code: -32602 });
    });

    it('resources: listed, read, followed; unknown ones are not found', async () => {
      const { resources } = await client.listResources();
      const uri = resources.find(({ uri: each }) => each.endsWith('/telemetry'))?.uri ?? '';
      const { contents } = await client.readResource({ uri });
      expect(JSON.parse((contents[0] as { text: string }).text)).to.have.property('mavlink_alive');
      const updated = new Promise<string>((resolve) => {
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
      });
      await client.subscribeResource({ uri });
      expect(await updated).to.equal(uri);
      await client.unsubscribeResource({ uri });
      const one = uri.replace('telemetry', 'params/RTL_ALT');
      expect(JSON.stringify(await client.readResource({ uri: one }))).to.include('RTL_ALT');
      for (const bad of ['svc://other/status', uri.replace('telemetry', 'passwd'), 'file:///etc/passwd'])
        expect(
          await client.readResource({ uri: bad }).catch((error: unknown) => error),
          bad,
        ).to.be.instanceOf(Error);
    });

    it('prompts, and completion of nodes, parameters and services', async () => {
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).to.include.members([
        'preflight_brief',
        'triage_issue',
        'fleet_health',
      ]);
      const prompt = await client.getPrompt({
        name: 'triage_issue',
        arguments: { node: 'n', symptom: 'drifts' },
      });
      expect(JSON.stringify(prompt.messages)).to.include('drifts');
      const complete = async (kind: string, value: string) =>
        (
          await client.complete({
            ref: { type: 'ref/resource', uri: `svc://{node}/${kind}/{name}` },
            argument: { name: 'name', value },
          })
        ).completion.values;
      expect(await complete('params', 'RTL_AL')).to.include('RTL_ALT');
      expect(await complete('services', 'svc-l')).to.deep.equal(['svc-link']);
      const nodes = await client.complete({
        ref: { type: 'ref/prompt', name: 'preflight_brief' },
        argument: { name: 'node', value: '' },
      });
      expect(nodes.completion.values).to.have.length(1);
    });

    it('a long call tells its progress and can be cancelled', async () => {
      const progress: number[] = [];
      const cancel = new AbortController();
      const call = client
        .callTool(
          { name: 'logs_query', arguments: { wait_s: 30 } },
          {
            signal: cancel.signal,
            onprogress: ({ progress: done }) => {
              progress.push(done);
              if (progress.length === 2) cancel.abort();
            },
          },
        )
        .catch((error: unknown) => error);
      expect(await call).to.be.instanceOf(Error);
      expect(progress.length).to.be.at.least(2);
    });

    it('too many calls at once: rate_limited, with the time to wait', async () => {
      const results = await Promise.all(
        Array.from({ length: 45 }, async () =>
          client.callTool({ name: 'audit_query', arguments: { limit: 1 } }),
        ),
      );
      const limited = results.map(answerOf).filter(({ reason }) => reason === 'rate_limited');
      expect(limited.length).to.be.within(1, 44);
      expect(limited[0]?.['retryAfterMs']).to.be.within(1, 1000);
    });
  });

  describe('over HTTP', () => {
    let connector: HttpConnector;
    before(async () => {
      connector = await HttpConnector.start({ args: agent, home, key: KEY });
    });
    after(async () => connector[Symbol.asyncDispose]());

    const connect = async (token: string): Promise<Client> => {
      const client = newClient(() => true);
      await client.connect(
        new StreamableHTTPClientTransport(new URL(connector.url), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      );
      return client;
    };
    const raw = async (
      headers: Record<string, string>,
      body: unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    ) =>
      new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
        const asked = request(connector.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
        });
        asked.on('error', reject);
        asked.on('response', (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        });
        asked.end(JSON.stringify(body));
      });

    it('a token sees and does what its scopes say; only the token travels to the node', async () => {
      const client = await connect(await mint('read'));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name))
        .to.include('status_get')
        .and.not.include('config_set');
      expect((await callTool(client, 'status_get')).value).to.have.property('version');
      const write = await callTool(client, 'config_set', { key: 'agent.name', value: 'x' });
      expect(write.value['reason']).to.equal('scope_missing');
      await client.close();
      const admin = await connect(await mint('read', 'admin'));
      expect((await callTool(admin, 'config_set', { key: 'agent.name', value: 'delta' })).value).to.include({
        ok: true,
      });
      await admin.close();
      const audit = await readFile(join(node.paths.auditDir, PROGRAMS_FILE), 'utf8');
      const changed = audit
        .split('\n')
        .filter((line) => line.includes('PUT /api/config') && line.includes('"done"'));
      expect(changed.at(-1)).to.include('mct_').and.not.include('pairing-key');
    });

    it('a revoked token is refused at the very next call', async () => {
      const token = await mint('read');
      const client = await connect(token);
      expect((await callTool(client, 'status_get')).isError).to.equal(false);
      const { tokenId } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
        tokenId: string;
      };
      await node.post('/api/mcp/revoke', { token_id: tokenId }, KEYED);
      const after = await callTool(client, 'status_get').catch((error: unknown) => ({
        value: { reason: String(error) },
      }));
      expect(String(after.value['reason'])).to.match(/token_revoked|401|Unauthorized/i);
      await client.close().catch(() => undefined); // its session may be refused too
    });

    it('nobody, a bad token, an expired one: 401 with a challenge, and audited', async () => {
      const claims = {
        tokenId: 'mct_x',
        operatorId: 'o',
        iss: 'agent:x',
        scopes: ['read'],
        expiresAt: 1,
        label: '',
      };
      const expired = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AAAA`;
      for (const authorization of ['', 'Bearer nonsense', 'Basic YTpi', `Bearer ${expired}`]) {
        const { status, headers } = await raw(authorization === '' ? {} : { authorization });
        expect(status, authorization).to.equal(401);
        expect(String(headers['www-authenticate'])).to.match(/^Bearer realm="svc-mcp"/);
      }
      const audit = await readFile(join(home, 'audit/audit.ndjson'), 'utf8');
      expect(audit.match(/"tool":"authenticate"/g)?.length).to.be.at.least(4);
    });

    it('a foreign Host or Origin is refused before anything else', async () => {
      const authorization = `Bearer ${await mint('read')}`;
      expect((await raw({ authorization, host: 'evil.example' })).status).to.equal(403);
      expect((await raw({ authorization, origin: 'https://evil.example' })).status).to.equal(403);
      expect((await raw({ authorization, origin: 'null' })).status).to.equal(403);
      expect((await raw({ authorization })).status).to.not.equal(403);
    });

    it('a session belongs to who opened it; a dead one is 404', async () => {
      const first = `Bearer ${await mint('read')}`;
      const second = `Bearer ${await mint('read')}`;
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      };
      const opened = await raw({ authorization: first }, initialize);
      const session = String(opened.headers['mcp-session-id']);
      expect(session).to.match(/^[0-9a-f-]{36}$/);
      expect((await raw({ authorization: first, 'mcp-session-id': session })).status).to.equal(200);
      expect((await raw({ authorization: second, 'mcp-session-id': session })).status).to.equal(404);
      expect((await raw({ authorization: first, 'mcp-session-id': 'none' })).status).to.equal(404);
    });

    it('a request of the 2026 era needs no session', async () => {
      const authorization = `Bearer ${await mint('read')}`;
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      };
      const { status, text } = await raw(
        {
          authorization,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'status_get',
        },
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'status_get', arguments: {}, _meta: meta },
        },
      );
      expect(status, text).to.equal(200);
      expect(text).to.include('"latency_ms":');
    });

    it('the Unix socket needs no token: presence on it is the credential', async () => {
      const headers = [
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        'mcp-protocol-version: 2026-07-28',
        'mcp-method: tools/list',
      ].flatMap((header) => ['-H', header]);
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } });
      const answer = execFileSync(
        'curl',
        ['-s', '--unix-socket', connector.socketPath, 'http://localhost/mcp', '-d', body, ...headers],
        { encoding: 'utf8' },
      );
      expect(answer).to.include('params_set').and.not.include('flight_arm'); // every scope; flight is not enforced here
      const { mode } = await import('node:fs').then(({ statSync }) => statSync(connector.socketPath));
      expect(mode & 0o777).to.equal(0o660);
    });

    it('/healthz says how it is', async () => {
      const answer = await fetch(connector.url.replace('/mcp', '/healthz'));
      expect(await answer.json()).to.include({
        ok: true,
        mode: 'agent',
        nodes: 1,
        answering: 1,
        audit: true,
      });
      expect((await fetch(connector.url.replace('/mcp', '/other'))).status).to.equal(404);
    });
  });

  describe('the audit', () => {
    it('holds every call and refusal, verifies, shows an edit, and holds no secret', async () => {
      const path = join(home, 'audit/audit.ndjson');
      const verify = async () => runConnector({ args: ['audit', 'verify', '--audit-path', path], home });
      expect((await verify()).stdout).to.match(/^\d+ records, unbroken\.\n$/);
      const text = await readFile(path, 'utf8');
      for (const decision of ['allowed', 'confirmed', 'denied'])
        expect(text).to.include(`"decision":"${decision}"`);
      expect(text).to.include('"tool":"tools/list"').and.include('"tool":"resource:');
      expect(text)
        .to.not.include(KEY)
        .and.not.match(/eyJ[A-Za-z0-9_-]{16,}\./);
      const lines = text.split('\n');
      lines[3] = (lines[3] ?? '').replace('"decision":"', '"decision":"not_');
      await writeFile(`${path}.edited`, lines.join('\n'));
      const edited = await runConnector({
        args: ['audit', 'verify', '--audit-path', `${path}.edited`],
        home,
      });
      expect(edited.code).to.equal(1);
      expect(edited.stdout).to.match(/BROKEN: .*line 5/);
      await rm(`${path}.edited`);
    });

    it('while it cannot be written, reads go on and writes are refused', async () => {
      const blocked = join(home, 'a-file');
      await writeFile(blocked, '');
      const env = { SVC_MCP_AUDIT_PATH: join(blocked, 'audit.ndjson') };
      const client = await connectStdio({ args: agent, home, key: KEY, env });
      expect((await callTool(client, 'status_get')).isError).to.equal(false);
      const write = await callTool(client, 'config_set', { key: 'agent.name', value: 'x' });
      expect(write.value['reason']).to.equal('audit_unavailable');
      await client.close();
    });
  });

  describe('--verify', () => {
    const verify = async (args: readonly string[], key?: string) =>
      runConnector({ args: [...args, '--verify'], home, ...(key === undefined ? {} : { key }) });

    it('tells apart well, unreachable, unauthorised, revoked', async () => {
      const well = await verify(agent, KEY);
      expect([well.code, well.stdout]).to.satisfy(
        ([code, text]: [number, string]) => code === 0 && text.startsWith('✓ Connected'),
      );
      const away = await verify(['--target', 'agent', '127.0.0.1:1'], KEY);
      expect(away.stdout).to.match(/✗ Not connected[^]*unreachable/);
      expect(away.code).to.equal(1);
      expect((await verify(agent, `svc_${'x'.repeat(43)}`)).stdout).to.include(
        'unauthorised: the node does not accept',
      );
      expect((await verify(agent)).stdout).to.include('unauthorised: no pairing key');
      const token = await mint('read');
      expect((await verify([...agent, '--token', token])).code).to.equal(0);
      await node.post('/api/mcp/revoke', { all: true }, KEYED);
      expect((await verify([...agent, '--token', token], KEY)).stdout).to.include('revoked or unknown');
    });

    it('another node than --node-id: says which one it is, and asks it nothing', async () => {
      const { body } = await node.json('/api/pairing/info');
      const id = String(body['device_id']);
      expect((await verify([...agent, '--node-id', id], KEY)).stdout).to.include(`Connected: ${id} at`);
      for (const more of [['--verify'], []]) {
        const { code, stderr, stdout } = await runConnector({
          args: [...agent, '--node-id', 'zzz', ...more],
          home,
          key: KEY,
        });
        expect([code, stdout]).to.deep.equal([1, '']);
        expect(stderr).to.include(`is ${id}, not zzz`);
      }
    });

    it('a node that is replaced by another one while it was away gets no call', async () => {
      await using stub = await StubNode.start('first');
      const client = await connectStdio(
        {
          args: ['--target', 'agent', stub.url, '--node-id', 'first'],
          home,
          key: KEY,
        },
        () => true,
      );
      const rename = async () => callTool(client, 'config_set', { key: 'agent.name', value: 'x' });
      expect((await rename()).isError).to.equal(false);
      stub.answers.set('PUT /api/config', 'drop');
      expect((await rename()).value['reason']).to.equal('rest_down');
      stub.answers.set('PUT /api/config', [200, { persisted: true }]);
      stub.answers.set('GET /api/pairing/info', [200, { device_id: 'second', name: null, paired: true }]);
      const writes = (): number => stub.came.filter((came) => came.startsWith('PUT')).length;
      const before = writes();
      expect((await rename()).value['reason']).to.equal('node_not_allowed');
      expect(writes()).to.equal(before);
      await client.close();
    });

    it('disabled: the node honours no token at all', async () => {
      const closed = await TestNode.start({ pairing: { key: KEY }, simulated: false });
      try {
        const { body } = await closed.post('/api/mcp/tokens', { scopes: ['read'], label: 'x' }, KEYED);
        const { code, stdout } = await verify(
          ['--target', 'agent', closed.url, '--token', String(body['token'])],
          KEY,
        );
        expect(code).to.equal(1);
        expect(stdout).to.include('disabled: the node does not honour tokens');
      } finally {
        await closed.stop();
      }
    });
  });

  const usage: readonly [string, readonly string[], RegExp][] = [
    ['no target', ['--transport', 'stdio'], /--target is required/],
    ['a bad target', ['--target', 'x'], /agent, local-fleet, fleet/],
    ['fleet mode', ['--target', 'fleet', '--gcs', 'prod'], /machine credential/],
    ['an unknown flag', ['--target', 'agent', '--bogus'], /bogus/],
    ['a bad port', ['--target', 'agent', '--http-port', 'eighty'], /not a port/],
    ['an empty fleet', ['--target', 'local-fleet', '/nonexistent.json'], /there is no node/],
  ];
  for (const [what, args, sentence] of usage) {
    it(`${what}: one line that says so, exit code 1`, async () => {
      const { code, stderr, stdout } = await runConnector({ args, home });
      expect(code).to.equal(1);
      expect(stdout).to.equal('');
      expect((JSON.parse(stderr.trim()) as { msg: string }).msg).to.match(sentence);
    });
  }
});

describe('a local fleet', function () {
  this.timeout(120_000);

  it('reaches each node by its id, says which is away, and has the same tools', async () => {
    const home = await tempDir();
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    const file = join(home, 'fleet.json');
    const fleet = {
      nodes: [
        { id: 'alpha', host: node.url, key: KEY },
        { id: 'beta', host: '127.0.0.1:1', key: KEY },
      ],
    };
    await writeFile(file, JSON.stringify(fleet), { mode: 0o600 });
    try {
      const client = await connectStdio({ args: ['--target', 'local-fleet', file], home });
      const { value } = await callTool(client, 'fleet_list_nodes');
      const nodes = value['nodes'] as readonly { id: string; online: boolean }[];
      expect(nodes.map(({ id, online }) => [id, online])).to.deep.equal([
        ['alpha', true],
        ['beta', false],
      ]);
      expect((await callTool(client, 'status_get')).value).to.include({ reason: 'node_required' });
      expect((await callTool(client, 'status_get', { node: 'alpha' })).value).to.have.property('version');
      expect((await callTool(client, 'status_get', { node: 'beta' })).value).to.include({
        reason: 'rest_down',
      });
      const { tools } = await client.listTools();
      // The node that is away may have anything.
      const all = [...compileCatalogue().values()].filter((tool) => usual(tool) && launched(tool));
      expect(tools.map(({ name }) => name)).to.deep.equal(all.map(({ name }) => name));
      const status = tools.find(({ name }) => name === 'status_get');
      expect(status?.inputSchema.properties).to.have.property('node');
      await client.close();
    } finally {
      await node.stop();
      await removeDir(home);
    }
  });
});
