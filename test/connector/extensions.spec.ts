import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { callTool, connectStdio } from '../support/connector.ts';
import { withSdk } from '../support/extensions.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const ID = 'org.example.thermal';
const TOOL = 'org_example_thermal__hottest';

describe('extensions in the connector', function () {
  this.timeout(120_000);
  let plugins: PluginNode;
  let home: string;
  let client: Client;
  /** How often each list was told to have changed, and who waits for the next time. */
  const told = { tools: 0, prompts: 0, resources: 0 };
  let wake: (() => void)[] = [];

  before(async () => {
    home = await tempDir();
    plugins = await PluginNode.start({ config: 'mcp:\n  token_accept_enabled: true\n' });
    await plugins.install({
      id: ID,
      agent: [
        'entrypoint: agent/main.mjs',
        'runtime: node',
        'permissions: [{id: mcp.expose, required: false}, {id: mavlink.write, required: false}]',
        'contributes:',
        '  tools:',
        '    - name: hottest',
        '      description: The hottest spot in the picture.',
        '      safety_class: read',
        '      inputSchema: {type: object, properties: {above: {type: number, "x-unit": celsius}}, required: [above]}',
        '    - {name: wipe, description: Wipes., safety_class: destructive, inputSchema: {type: object}}',
        '  resources: [{name: spots, title: Hot spots}]',
        '  prompts: [{name: look, description: Looks., template: "Look for {what}.", arguments: [{name: what, description: x, required: true}]}]',
      ],
      files: await withSdk(`
        svc.tool('hottest', ({ above }) => ({ celsius: above + 1 }));
        setInterval(() => void svc.publishState('spots', [1, 2]), 500);
      `),
    });
    client = await connectStdio(
      {
        args: ['--target', 'agent', plugins.node.url],
        home,
        key: PluginNode.headers['x-svc-key'],
      },
      () => agrees,
    );
    for (const what of ['tools', 'prompts', 'resources'] as const)
      client.setNotificationHandler(`notifications/${what}/list_changed`, () => {
        told[what]++;
        for (const each of wake.splice(0)) each();
      });
  });
  after(async () => {
    await client.close();
    await plugins.node.stop();
    await removeDir(home);
  });

  let agrees = true;
  const names = async (): Promise<readonly string[]> =>
    (await client.listTools()).tools.map(({ name }) => name);
  const next = async (): Promise<void> => new Promise((resolve) => wake.push(resolve));
  /** Does it, and waits until the list of tools shows it. */
  const until = async (
    work: Promise<unknown>,
    wanted: (tools: readonly string[]) => boolean,
  ): Promise<void> => {
    await work;
    while (!wanted(await names())) await next();
  };

  it('appear when they are granted mcp.expose, with list_changed, and go when it is revoked', async () => {
    expect(await names()).to.not.include(TOOL);
    const grant = plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: 'mcp.expose' });
    await until(grant, (tools) => tools.includes(TOOL));
    expect(Math.min(told.tools, told.prompts, told.resources)).to.be.above(0);
    const tool = (await client.listTools()).tools.find(({ name }) => name === TOOL);
    expect(tool?.description).to.include('hottest spot');
    expect(tool?.inputSchema.properties).to.have.keys('above');
    const revoke = plugins.done('DELETE', `/api/plugins/${ID}/perms/mcp.expose`);
    await until(revoke, (tools) => !tools.includes(TOOL));
    const again = plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: 'mcp.expose' });
    await until(again, (tools) => tools.includes(TOOL));
  });

  it('a tool runs on the node once the user agreed; its failures keep their meaning', async () => {
    const stopped = await callTool(client, TOOL, { above: 40 });
    expect([stopped.isError, stopped.value['reason']]).to.deep.equal([true, 'not_found']);
    await plugins.done('POST', `/api/plugins/${ID}/enable`, {});
    await plugins.until(
      'it is ready',
      async () => plugins.done('GET', `/api/plugins/${ID}/readiness`),
      (value) => JSON.stringify(value).includes('"ready":true'),
    );
    agrees = false;
    const asked = await callTool(client, TOOL, { above: 40 });
    expect(asked.value['reason']).to.equal('confirm_required');
    agrees = true;
    const done = await callTool(client, TOOL, { above: 40 });
    expect(done.value, JSON.stringify(done)).to.deep.equal({
      plugin_id: ID,
      tool: 'hottest',
      result: { celsius: 41 },
    });
    const wrong = await callTool(client, TOOL, { abov: 40 });
    expect(wrong.value['reason']).to.equal('invalid_arguments');
    const words = await callTool(client, 'org_example_thermal__wipe', { confirm: true });
    expect(words.isError).to.equal(true);
  });

  it('resources and prompts', async () => {
    const { resources } = await client.listResources();
    const spots = resources.find(({ uri }) => uri.endsWith(`/extensions/${ID}/spots`));
    expect(spots?.title).to.equal(`spots (${ID})`);
    expect(spots?.description).to.include('data: "Hot spots"');
    const seen = await plugins.until(
      'published',
      async () => client.readResource({ uri: spots?.uri ?? '' }).catch(() => null), // not yet
      (value) => value !== null && JSON.stringify(value.contents).includes('[1,2]'),
    );
    expect(seen?.contents).to.have.length(1);
    const prompt = await client.getPrompt({ name: 'org_example_thermal__look', arguments: { what: 'fire' } });
    expect(JSON.stringify(prompt.messages)).to.include('Look for fire.');
  });

  it('what an extension was granted raises the class of its tools, here and on the node', async () => {
    const grant = plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: 'mavlink.write' });
    await until(grant, (tools) => !tools.includes(TOOL)); // without --flight-enforced nothing that flies is shown
    const { manifest } = await plugins.done('GET', `/api/plugins/${ID}`);
    const { mcp } = manifest as { mcp: { tools: { name: string; class: string }[] } };
    expect(mcp.tools.map(({ name, class: scope }) => [name, scope])).to.deep.equal([
      ['hottest', 'flight'],
      ['wipe', 'destructive'],
    ]);
    const call = await callTool(client, TOOL, { above: 40 });
    expect(call.isError).to.equal(true);
    const { token } = await plugins.done('POST', '/api/mcp/tokens', {
      scopes: ['read', 'admin'],
      label: 'admin',
    });
    const answer = await plugins.node.fetch(`/api/plugins/${ID}/tools/hottest/invoke`, {
      method: 'POST',
      headers: { 'x-svc-mcp-token': String(token), 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { above: 1 } }),
    });
    expect(await answer.json()).to.include({ code: 'E_SCOPE', required: 'flight' });
    expect(answer.status).to.equal(403);
    const install = await plugins.node.fetch('/api/plugins/install_from_url', {
      method: 'POST',
      headers: { 'x-svc-mcp-token': String(token), 'content-type': 'application/json' },
      body: JSON.stringify({
        url: 'https://github.com/a',
        expected_sha256: '0'.repeat(64),
        requested_permissions: ['mavlink.write'],
      }),
    });
    expect(await install.json()).to.include({ ok: false, kind: 'permission_deny' });
  });
});
