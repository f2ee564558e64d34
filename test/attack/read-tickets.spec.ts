import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { PluginNode } from '../support/plugin-node.ts';

const PIN = '493817';
const EXPORT = '/api/logs/export';
const PAGE = 'org.example.page';
const GCS = `/api/plugins/${PAGE}/gcs`;

describe('F11 read tickets over a real socket', () => {
  let plugins: PluginNode;
  before(async () => {
    plugins = await PluginNode.start({ config: 'mcp:\n  token_accept_enabled: true\n' });
  });
  after(async () => plugins.node.stop());

  const ask = async (path: string, headers: Record<string, string> = PluginNode.headers, more: object = {}) =>
    plugins.node.post('/api/_ws/ticket', { scope: 'get', path, ...more }, headers);
  const ticketFor = async (path: string, headers?: Record<string, string>) => {
    const { status, body } = await ask(path, headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    return String(body['ticket']);
  };
  const open = async (target: string, method = 'GET') =>
    (await plugins.node.request(target, { method })).status;
  const mint = async (...scopes: readonly string[]) => {
    const { body } = await plugins.node.post('/api/mcp/tokens', { scopes }, PluginNode.headers);
    return { id: String(body['token_id']), headers: { 'x-svc-mcp-token': String(body['token']) } };
  };
  const signIn = async () => {
    await plugins.node.post('/api/dashboard/pin/set', { pin: PIN }, PluginNode.headers);
    const { body } = await plugins.node.post('/api/dashboard/pin/verify', { pin: PIN });
    return { 'x-svc-dashboard-session': String(body['session']) };
  };

  it('says what it is for and how long', async () => {
    const { status, body } = await ask(EXPORT);
    expect(status).to.equal(200);
    expect(body).to.include({ scope: 'get', path: EXPORT, ttl_seconds: 600 });
    expect(body['ticket']).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect((await ask(EXPORT, undefined, { ttl_seconds: 60 })).body).to.include({ ttl_seconds: 60 });
    for (const bad of [
      { scope: 'get' },
      { scope: 'get', path: `${EXPORT}?level=info` },
      { scope: 'get', path: EXPORT, ttl_seconds: 601 },
      { scope: 'telemetry', path: EXPORT },
      { scope: 'telemetry', ttl_seconds: 121 },
    ]) {
      const answer = await plugins.node.post('/api/_ws/ticket', bad, PluginNode.headers);
      expect(answer.body, JSON.stringify(bad)).to.include({ code: 'E_INVALID_VALUE' });
    }
    expect((await ask(EXPORT, {})).status).to.equal(401);
  });

  it('opens GET and HEAD of its path, several times, with any query; nothing else', async () => {
    const ticket = await ticketFor(EXPORT);
    for (const [method, query] of [
      ['GET', ''],
      ['GET', '&limit=1'],
      ['HEAD', ''],
    ] as const)
      expect(await open(`${EXPORT}?ticket=${ticket}${query}`, method), method + query).to.equal(200);
    const answer = await plugins.node.fetch(`${EXPORT}?ticket=${ticket}&limit=1`);
    expect(answer.headers.get('referrer-policy')).to.equal('no-referrer');
    await answer.text();
    // The handler's own check of the query sees everything but the ticket.
    expect(await open(`${EXPORT}?ticket=${ticket}&nonsense=1`)).to.equal(422);
    for (const [method, target] of [
      ['GET', `/api/logs?ticket=${ticket}`],
      ['GET', `/api/video/snapshot?ticket=${ticket}`],
      ['GET', `${EXPORT}?ticket=${ticket}&ticket=${ticket}`],
      ['GET', `${EXPORT}?%74icket=${ticket}`],
      ['GET', `${EXPORT}?ticket=%2D${ticket}`],
      ['POST', `${EXPORT}?ticket=${ticket}`],
      ['DELETE', `${EXPORT}?ticket=${ticket}`],
      ['POST', `/api/_ws/ticket?ticket=${ticket}`],
    ] as const)
      expect(await open(target, method), `${method} ${target}`).to.equal(401);
    const socket = new WebSocket(`${plugins.node.url.replace('http', 'ws')}${EXPORT}?ticket=${ticket}`);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).to.include('401');
  });

  it('of an extension’s page: relative links keep it, other extensions’ files are closed', async () => {
    await plugins.run({
      id: PAGE,
      agent: null,
      lines: ['gcs:', '  entrypoint: gcs/plugin.bundle.js'],
      files: { 'gcs/plugin.bundle.js': 'export default 1;\n', 'gcs/css/a.css': 'p {}\n' },
    });
    const ticket = await ticketFor(GCS);
    const at = new URL(`${plugins.node.url}${GCS}/~${ticket}/plugin.bundle.js`);
    const script = await fetch(at);
    expect([script.status, await script.text()]).to.deep.equal([200, 'export default 1;\n']);
    expect((await fetch(new URL('css/a.css', at))).status).to.equal(200);
    // Without it, and with one of another extension.
    expect(await open(`${GCS}/plugin.bundle.js`)).to.equal(401);
    expect(await open(`/api/plugins/org.example.other/gcs/~${ticket}/a.js`)).to.equal(401);
    expect(await open(`/api/plugins/${PAGE}?ticket=${ticket}`)).to.equal(401);
    expect(await open(`${GCS}/%7E${ticket}/plugin.bundle.js`)).to.equal(400);
  });

  it('never allows more than its holder may do', async () => {
    const admin = await mint('admin');
    expect((await ask(EXPORT, admin.headers)).body).to.include({ code: 'E_SCOPE', required: 'read' });
    const reader = await mint('read');
    expect((await ask(EXPORT, reader.headers)).body, 'to ask is administration').to.include({
      code: 'E_SCOPE',
    });
    for (const path of ['/api/config', '/api/mcp/tokens', `${GCS}/plugin.bundle.js`])
      expect((await ask(path)).body, path).to.include({ code: 'E_NOT_FOUND' });
  });

  it('ends with the token, the session and the PIN of whoever asked', async () => {
    const both = await mint('admin', 'read');
    const byToken = await ticketFor(EXPORT, both.headers);
    expect(await open(`${EXPORT}?ticket=${byToken}&limit=1`)).to.equal(200);
    await plugins.node.post('/api/mcp/revoke', { token_id: both.id }, PluginNode.headers);
    expect(await open(`${EXPORT}?ticket=${byToken}&limit=1`)).to.equal(401);

    const session = await signIn();
    const bySession = await ticketFor(EXPORT, session);
    expect(await open(`${EXPORT}?ticket=${bySession}&limit=1`)).to.equal(200);
    const { body } = await plugins.node.json('/api/dashboard/sessions', { headers: session });
    const own = (body['sessions'] as { id: string; current: boolean }[]).find(({ current }) => current);
    await plugins.node.json(`/api/dashboard/sessions/${own?.id}`, { method: 'DELETE', headers: session });
    expect(await open(`${EXPORT}?ticket=${bySession}&limit=1`)).to.equal(401);

    const again = await ticketFor(EXPORT, await signIn());
    await plugins.node.post('/api/dashboard/pin/set', { pin: '8888' }, PluginNode.headers);
    expect(await open(`${EXPORT}?ticket=${again}&limit=1`)).to.equal(401);
  });

  it('K9 is in no log and no audit record', async () => {
    const ticket = await ticketFor(EXPORT);
    await open(`${EXPORT}?ticket=${ticket}&limit=1`);
    await open(`${EXPORT}?ticket=${ticket}&ticket=${ticket}`);
    await open(`/api/video/snapshot?ticket=${ticket}`, 'POST');
    await open(`${GCS}/~${ticket}/plugin.bundle.js`);
    const { node } = plugins;
    const files = readdirSync(node.paths.auditDir).map((name) => join(node.paths.auditDir, name));
    const audit = files.map((name) => readFileSync(name, 'utf8')).join('');
    expect(audit).to.include(EXPORT);
    const logs = await (await node.fetch('/api/logs?limit=1000', { headers: PluginNode.headers })).text();
    for (const [name, text] of Object.entries({ audit, logs, stderr: node.stderr }))
      expect(text.includes(ticket), name).to.equal(false);
  });
});
