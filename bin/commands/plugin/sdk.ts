import { join } from 'node:path';
import { Args } from '@oclif/core';
import { writeSdk } from '../../plugin/project.ts';
import { PluginTool } from './plugin-command.ts';

export default class PluginSdk extends PluginTool {
  static override summary = 'Write the client for the node into a project, or renew it.';
  static override description = 'For the runtimes node (agent/sdk/) and python (agent/svc_extension.py).';
  static override examples = ['<%= config.bin %> plugin sdk my-extension'];
  static override args = {
    folder: Args.string({ description: 'the folder with manifest.yaml', default: '.' }),
  };

  async run(): Promise<{ readonly files: readonly string[] }> {
    const { args } = await this.parse(PluginSdk);
    const { agent } = await (await import('../../plugin/manifest-file.ts')).readManifestOf(args.folder);
    const files = await writeSdk(args.folder, agent?.runtime ?? '');
    for (const file of files) this.log(join(args.folder, file));
    if (files.length === 0)
      this.log('There is no client for this runtime; docs/extensions.md has the protocol.');
    return { files };
  }
}
