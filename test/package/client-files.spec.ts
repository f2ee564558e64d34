import { expect } from 'chai';
import { parse } from 'yaml';
import { PROMPTS } from '../../connector/prompts.ts';
import { compileCatalogue } from '../../connector/tools/catalogue.ts';
import { bundleManifest, pluginFiles } from '../../deploy/package/client-files.ts';
import { memberOf } from '../../shared/member.ts';

describe('the plugin for AI clients', () => {
  const files = pluginFiles('1.2.3');
  const text = (path: string): string => files.get(path) ?? expect.fail(`there is no ${path}`);
  const json = (path: string): unknown => JSON.parse(text(path));

  for (const [name, prompt] of [
    ['preflight', 'preflight_brief'],
    ['debrief', 'postflight_debrief'],
  ] as const)
    it(`its skill ${name} says what the prompt ${prompt} says, and names tools that there are`, () => {
      const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text(`skills/${name}/SKILL.md`)) ?? [];
      const declared: unknown = parse(head);
      expect(declared).to.have.all.keys('name', 'description');
      expect(memberOf(declared, 'name')).to.equal(name);
      const found = PROMPTS.find((each) => each.name === prompt);
      expect(body).to.include(found?.text({ node: '"$ARGUMENTS"' }) ?? 'no prompt');
      expect(String(memberOf(declared, 'description'))).to.include(found?.description);
      const tools = compileCatalogue();
      const named = [...body.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)].map(([word]) => word);
      expect(named).to.not.be.empty;
      for (const word of named) expect(tools.get(word), word).to.not.equal(undefined);
    });

  it('asks for the answers without which its server cannot start, and for no others', () => {
    expect(json('.claude-plugin/plugin.json')).to.include({ name: 'svc', version: '1.2.3' });
    const asked = Object.keys(Object(memberOf(json('.claude-plugin/plugin.json'), 'userConfig')));
    const used = [...text('.mcp.json').matchAll(/\$\{user_config\.(\w+)\}/g)].map(([, key]) => key);
    expect(used).to.have.members(asked);
    // Neither a host that begins with a dash nor a token is an argument.
    const drone = memberOf(memberOf(json('.mcp.json'), 'mcpServers'), 'drone');
    expect(JSON.stringify(memberOf(drone, 'args'))).to.not.include('user_config');
    expect(memberOf(drone, 'env')).to.include({
      SVC_MCP_FLIGHT_ENFORCED: '${SVC_MCP_FLIGHT_ENFORCED:-false}',
    });
  });

  it('the bundle keeps the token secret, and flight off until somebody ticks it', () => {
    const asked = memberOf(bundleManifest('1.2.3'), 'user_config');
    expect(memberOf(asked, 'token')).to.include({ sensitive: true, required: true });
    expect(memberOf(asked, 'flight')).to.include({ default: false });
  });
});
