import { Args, Flags } from '@oclif/core';
import type { KeyFiles } from '../../plugin/keys.ts';
import { PluginTool } from './plugin-command.ts';

export default class PluginKeygen extends PluginTool {
  static override summary = 'Make the key with which you sign your extensions.';
  static override description =
    'SIGNER.key.pem stays with you and in a backup; SIGNER.pem goes to the nodes, into /etc/svc/plugin-keys/.';
  static override examples = ['<%= config.bin %> plugin keygen acme --output-dir ~/keys'];
  static override args = {
    signer: Args.string({ description: 'your id as a signer, for instance acme-2026', required: true }),
  };
  static override flags = {
    'output-dir': Flags.string({ summary: 'where the two files go', default: '.' }),
    force: Flags.boolean({ summary: 'replace a key that is there' }),
  };

  async run(): Promise<KeyFiles> {
    const { args, flags } = await this.parse(PluginKeygen);
    const files = await (await import('../../plugin/keys.ts')).makeKeys(
      args.signer,
      flags['output-dir'],
      flags.force,
    );
    this.log(`keep       ${files.private_key}`);
    this.log(`hand out   ${files.public_key}`);
    return files;
  }
}
