import { stat } from 'node:fs/promises';
import { Args, Flags } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { defaultOutput, KEY_FLAGS, type PackResult, signWith } from '../../plugin/pack-flags.ts';
import { PluginTool } from './plugin-command.ts';

export default class PluginSign extends PluginTool {
  static override summary = 'Sign an archive, or pack and sign a folder.';
  static override description =
    'An archive is signed in place, unless --output names another file. A signature that it has already is replaced.';
  static override examples = [
    '<%= config.bin %> plugin sign demo-1.0.0.svcplug --key ~/keys/acme.key.pem',
    '<%= config.bin %> plugin sign my-extension --key ~/keys/acme.key.pem',
  ];
  static override args = {
    path: Args.string({ description: 'an archive, or the folder with manifest.yaml', default: '.' }),
  };
  static override flags = {
    ...KEY_FLAGS,
    output: Flags.string({ char: 'o', summary: 'the signed archive' }),
  };

  async run(): Promise<PackResult> {
    const { args, flags } = await this.parse(PluginSign);
    const sign = await signWith(flags.key, flags['signer-id']);
    if (sign === null) return this.error('Name your key with --key.', { exit: EXIT.usage });
    const isFolder = (await stat(args.path).catch(() => null))?.isDirectory() === true;
    const file = flags.output ?? (isFolder ? await defaultOutput(args.path) : args.path);
    const { packFolder } = await import('../../../shared/plugins/pack.ts');
    const { signArchive } = await import('../../plugin/sign-archive.ts');
    const packed = isFolder
      ? await packFolder(args.path, { sign }, file)
      : await signArchive(args.path, sign, file);
    for (const warning of packed.warnings) this.warn(warning);
    this.log(`${file}: signed by ${sign.signer}`);
    return { file, ...packed };
  }
}
