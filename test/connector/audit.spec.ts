import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { ConnectorAudit } from '../../connector/audit/audit.ts';
import { CODE_PATTERN } from '../../shared/operator/operator-files.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { callTool, connectStdio, HttpConnector, newClient, runConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { fileSays, gone } from '../support/events.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;
const PHRASE = 'REBOOT THIS NODE';

describe('the audit of the connector', function () {
  this.timeout(120_000);
  let home: string;
  let path: string;
  let stub: StubNode;
  beforeEach(async () => {
    home = await tempDir();
    path = join(home, 'audit/audit.ndjson');
    stub = await StubNode.start();
  });
  afterEach(async () => {
    await stub.leave();
    await removeDir(home);
  });

  const connect = async (): Promise<Client> =>
    connectStdio({ args: ['--target', 'agent', stub.url], home, key: KEY }, () => true);
  const verify = async (): Promise<string> =>
    (await runConnector({ args: ['audit', 'verify', '--audit-path', path], home })).stdout;
  const kill = async (client: Client): Promise<void> => {
    const pid = (client.transport as StdioClientTransport).pid ?? 0;
    process.kill(pid, 'SIGKILL');
    await gone(pid);
  };
  const rename = { name: 'config_set', arguments: { key: 'agent.name', value: 'x' } };
  const phases = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json)
      .filter(({ tool }) => tool === rename.name)
      .map(({ phase }) => phase);

  it('a call that writes is announced before it is sent; what a killed connector sent is there', async () => {
    stub.answers.set('PUT /api/config', 'hang');
    const client = await connect();
    client.callTool(rename).catch(() => undefined); // its connector is killed
    await fileSays(path, (text) => text.includes('"announced"'));
    await kill(client);
    expect(phases(await readFile(path, 'utf8'))).to.deep.equal(['announced']);
    expect(await verify()).to.match(/unbroken/);
  });

  it('a cancelled call says whether it was sent', async () => {
    const client = await connect();
    const came = new Promise<void>((resolve) =>
      stub.answers.set('PUT /api/config', () => {
        resolve();
        return 'hang';
      }),
    );
    const cancel = new AbortController();
    const call = client.callTool(rename, { signal: cancel.signal }).catch((error: unknown) => error);
    await came;
    cancel.abort();
    expect(await call).to.be.instanceOf(Error);
    const text = await fileSays(path, (said) => said.includes('"settled"'));
    const last = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Json;
    const announced = text.split('\n').find((line) => line.includes('"announced"')) ?? '{}';
    expect(last).to.include({ of: (JSON.parse(announced) as Json)['seq'], decision: 'confirmed' });
    expect(last['result']).to.match(/^cancelled: .*may have carried it out/);
    await client.close();
  });

  it('two connectors at once write a chain each; one query shows both, a later one takes up the first', async () => {
    const [first, second] = await Promise.all([connect(), connect()]);
    for (const client of [first, second, first, second]) await callTool(client, 'status_get');
    const { value } = await callTool(second, 'audit_query', { tool: 'status_get' });
    expect(value['count']).to.equal(4);
    expect(await verify()).to.match(/^\d+ records in 2 chains, unbroken\.\n$/);
    await kill(first);
    await second.close();
    const third = await connect();
    await callTool(third, 'status_get');
    await third.close();
    expect(await verify()).to.match(/^\d+ records in 2 chains, unbroken\.\n$/);
  });

  it('shows arguments and answers only to whose call it was and to the key, and a code under which a person signs to nobody', async () => {
    stub.answers.set('GET /api/status', [200, {}]);
    stub.answers.set('GET /api/pairing/info', [200, { paired: true, device_id: stub.deviceId }]);
    await using http = await HttpConnector.start({ args: ['--target', 'agent', stub.url], home, key: KEY });
    const as = async (...scopes: readonly string[]): Promise<Client> => {
      const client = newClient();
      const headers = { authorization: `Bearer ${stub.token(...scopes)}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } }),
      );
      return client;
    };
    const [other, reader] = await Promise.all([as('read', 'destructive'), as('read')]);
    const asked = await callTool(other, 'system_reboot', { confirm: PHRASE });
    const code = String(asked.value['confirm_id']);
    expect(code).to.match(CODE_PATTERN);
    await callTool(other, 'system_reboot', { confirm: PHRASE, confirm_id: code });
    await callTool(reader, 'logs_query', { text: 'of the reader' });
    // A record of an earlier version, with the code in it.
    const old = {
      seq: 0,
      time: new Date(0).toISOString(),
      tokenId: 'stdio',
      tool: 'x',
      node: '*',
      decision: 'denied',
      args: { confirm_id: code },
      result: `confirm_required: svc operator confirm ${code}`,
    };
    await appendFile(path, `${JSON.stringify(old)}\n`);

    const key = await connect();
    const [ofOther, ofReader, ofKey] = await Promise.all(
      [other, reader, key].map(async (client) => {
        const queried = await callTool(client, 'audit_query', { limit: 1000 });
        const searched = await callTool(client, 'audit_query', { query: 'tool:' });
        return JSON.stringify([queried.value, searched.value]);
      }),
    );
    for (const text of [ofOther, ofReader, ofKey])
      expect(text).to.include('system_reboot').and.not.include(code);
    expect([ofOther, ofReader, ofKey].map((text) => text?.includes(PHRASE))).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect([ofOther, ofReader, ofKey].map((text) => text?.includes('of the reader'))).to.deep.equal([
      false,
      true,
      true,
    ]);
    expect(
      (await callTool(reader, 'audit_query', { query: 'result:confirm_required' })).value['count'],
    ).to.equal(0);
    expect((await readFile(path, 'utf8')).split('\n').slice(0, -2).join()).not.to.include(code);
    await Promise.all([other, reader, key].map(async (client) => client.close()));
  });

  it('an end that was cut off is found, however soon after it was written', async () => {
    const client = await connect();
    for (let call = 0; call < 3; call++) await callTool(client, 'status_get');
    await kill(client);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, `${lines.slice(0, -1).join('\n')}\n`);
    expect(await verify()).to.match(/^BROKEN: .* records \d+ to \d+ are missing/);
    const next = await connect();
    await callTool(next, 'status_get');
    await next.close();
    expect(await verify(), 'after it has gone on').to.match(/^BROKEN/);
  });

  it('a removed older file is found, also after the next start', async () => {
    const event = {
      tokenId: 't',
      operatorId: 'o',
      tool: 'x',
      args: {},
      node: '*',
      decision: 'allowed',
      confirmedBy: null,
      result: 'y'.repeat(150),
      latencyMs: 0,
      mcpSession: '',
      plane: '',
    } as const;
    const log = createLogger('svc-mcp', 'error');
    const open = (): ConnectorAudit => {
      const audit = new ConnectorAudit(path, log, Date.now, 1000);
      audit.start();
      return audit;
    };
    const audit = open();
    for (let call = 0; call < 20; call++) audit.write(event);
    audit.stop();
    expect(await verify()).to.match(/unbroken/);
    await rm(`${path}.3`);
    expect(await verify()).to.match(/^BROKEN/);
    const next = open();
    next.write(event);
    next.stop();
    expect(await verify(), 'after the next start').to.match(/^BROKEN.*missing/);
    // Once the file would have been dropped anyhow, nothing is missing.
    const last = open();
    for (let call = 0; call < 20; call++) last.write(event);
    last.stop();
    expect(await verify()).to.match(/unbroken/);
  });

  it('on a full disk nothing is sent that writes, until a record was written again', async function () {
    if (process.getuid?.() !== 0) this.skip(); // a tmpfs needs root
    const folder = join(home, 'audit');
    await mkdir(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
    try {
      const client = await connect();
      await callTool(client, 'status_get');
      const ballast = openSync(join(folder, 'ballast'), 'w');
      expect(() => {
        for (;;) writeSync(ballast, Buffer.alloc(4096));
      }).to.throw('ENOSPC');
      // The last page of the file still takes some records.
      const write = { key: 'agent.name', value: 'x'.repeat(900) };
      let refused: Json = {};
      while (refused['reason'] === undefined) refused = (await callTool(client, 'config_set', write)).value;
      expect(refused).to.include({ reason: 'audit_unavailable' });
      const sent = stub.came.filter((came) => came === 'PUT /api/config').length;
      const kept = (await readFile(path, 'utf8'))
        .split('\n')
        .filter((line) => line.includes('config_set') && !/"phase":"settled"|"decision":"denied"/.test(line));
      expect(kept.length, 'each is recorded').to.equal(sent);
      ftruncateSync(ballast, 0);
      closeSync(ballast);
      expect((await callTool(client, rename.name, rename.arguments)).value).to.include({ ok: true });
      await client.close();
      expect(await verify()).to.match(/unbroken/);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});
