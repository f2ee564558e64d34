import { Args } from '@oclif/core';
import { signature } from './plugin-command.ts';
import { type Detail, PluginNodeCommand } from './plugin-node-command.ts';

export default class PluginInfo extends PluginNodeCommand {
  static override summary = 'One extension: what it is, what it may do, why it does not run.';
  static override examples = ['<%= config.bin %> plugin info org.example.thermal'];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };

  async run(): Promise<Detail> {
    const { args } = await this.parse(PluginInfo);
    const detail = await this.detail(args.id);
    const { install, manifest } = detail;
    this.log(`${install.plugin_id} ${install.version}: ${install.status}`);
    if (manifest !== null) this.log(`${manifest.name}. ${manifest.description}`);
    this.log(`${signature(install.signer_id)}; sandbox ${install.sandbox ?? 'not started yet'}`);
    if (install.failure_reason !== null) this.log(`failed: ${install.failure_reason}`);
    for (const line of install.last_words) this.log(`  | ${line}`);
    if (manifest !== null && manifest.permissions.length > 0) {
      this.log('asks for:');
      this.showPermissions(manifest.permissions, new Set(detail.granted_capabilities));
    }
    for (const { name, class: scope } of manifest?.mcp.tools ?? []) this.log(`tool ${name} [${scope}]`);
    return detail;
  }
}
