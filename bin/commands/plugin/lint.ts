import { Args } from '@oclif/core';
import type { Linted } from '../../plugin/lint.ts';
import { PluginTool } from './plugin-command.ts';

export default class PluginLint extends PluginTool {
  static override summary = 'Check an archive or a folder as a node would, and say what it asks for.';
  static override description =
    'Everything that is wrong in the manifest is named at once. Exit code 2: it is refused.';
  static override examples = [
    '<%= config.bin %> plugin lint my-extension',
    '<%= config.bin %> plugin lint demo-1.0.0.svcplug --json',
  ];
  static override args = {
    path: Args.string({ description: 'an archive, or the folder with manifest.yaml', default: '.' }),
  };

  async run(): Promise<Linted> {
    const { args } = await this.parse(PluginLint);
    const linted = await (await import('../../plugin/lint.ts')).lint(args.path);
    for (const warning of linted.warnings) this.warn(warning);
    this.log(`${linted.id} ${linted.version}: ${linted.files} files, ${linted.size} bytes`);
    if (linted.permissions.length > 0) this.log('asks for:');
    for (const { id, label, risk, required, risk_reason: reason } of linted.permissions)
      this.log(`  ${id.padEnd(28)} ${risk.padEnd(8)} ${label}. ${reason}${required ? '' : ' (optional)'}`);
    return linted;
  }
}
