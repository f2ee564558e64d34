import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Args, Flags } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { PluginTool } from './plugin-command.ts';

export default class PluginDev extends PluginTool {
  static override summary = 'Run an extension here with a simulated vehicle, again after each change.';
  static override description =
    'With every permission of its manifest and without the sandbox of a node, until Ctrl-C. What it publishes is shown. ' +
    'It flies the simulated vehicle as far as its permissions go. Pictures and recordings need a node: install it there.';
  static override examples = [
    '<%= config.bin %> plugin dev my-extension',
    `<%= config.bin %> plugin dev my-extension --set 'address="192.168.1.7:9000"'`,
  ];
  static override args = {
    folder: Args.string({ description: 'the folder with manifest.yaml', default: '.' }),
  };
  static override flags = {
    set: Flags.string({ summary: 'a key of its configuration: KEY=JSON', multiple: true }),
  };

  async run(): Promise<{ readonly id: string }> {
    const { args, flags } = await this.parse(PluginDev);
    const { develop } = await import('../../plugin/development.ts');
    const { readManifestOf } = await import('../../plugin/manifest-file.ts');
    const { SimulatedNode } = await import('../../plugin/simulated-node.ts');
    const manifest = await readManifestOf(args.folder);
    const config = new Map((flags.set ?? []).map((text) => this.pair(text)));
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
    const { signal } = ended;
    const temporary = await mkdtemp(join(tmpdir(), 'svc-dev-'));
    try {
      this.log('a simulated vehicle starts…');
      const node = await SimulatedNode.start(join(temporary, 'node'), signal).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (node === null) return { id: manifest.id };
      try {
        const onLine = (line: string): void => this.log(line);
        await develop({ folder: args.folder, temporary, config, paths: node.paths, onLine }, signal);
      } finally {
        await node.stop();
      }
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    return { id: manifest.id };
  }

  private pair(text: string): [string, unknown] {
    const at = text.indexOf('=');
    const value = text.slice(at + 1);
    if (at < 1) this.error(`--set ${text}: write KEY=JSON`, { exit: EXIT.usage });
    try {
      return [text.slice(0, at), JSON.parse(value)];
    } catch {
      return [text.slice(0, at), value]; // a bare word is a text
    }
  }
}
