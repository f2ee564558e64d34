import { Args, Flags } from '@oclif/core';
import { defaultOutput, KEY_FLAGS, type PackResult, signWith } from '../../plugin/pack-flags.ts';
import { PluginTool, signature } from './plugin-command.ts';

export default class PluginPack extends PluginTool {
  static override summary = 'Pack a folder into an archive that a node can install.';
  static override description =
    'Refuses what a node would refuse. The same files always give the same archive. With --key it is signed, too.';
  static override examples = [
    '<%= config.bin %> plugin pack my-extension',
    '<%= config.bin %> plugin pack my-extension --key ~/keys/acme.key.pem --output demo.svcplug',
  ];
  static override args = {
    folder: Args.string({ description: 'the folder with manifest.yaml', default: '.' }),
  };
  static override flags = {
    ...KEY_FLAGS,
    output: Flags.string({ char: 'o', summary: 'the archive; by default ID-VERSION.svcplug here' }),
  };

  async run(): Promise<PackResult> {
    const { args, flags } = await this.parse(PluginPack);
    const sign = await signWith(flags.key, flags['signer-id']);
    const file = flags.output ?? (await defaultOutput(args.folder));
    const { packFolder } = await import('../../../shared/plugins/pack.ts');
    const packed = await packFolder(args.folder, sign === null ? {} : { sign }, file);
    for (const warning of packed.warnings) this.warn(warning);
    this.log(`${file}: ${packed.files.length} files, ${packed.size} bytes, ${signature(packed.signer)}`);
    return { file, ...packed };
  }
}
