import { join } from 'node:path';
import { Args, Flags } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { KINDS, type Kind, writeProject } from '../../plugin/project.ts';
import { PluginTool } from './plugin-command.ts';

interface Project {
  readonly folder: string;
  readonly id: string;
  readonly kind: Kind;
  readonly files: readonly string[];
}

export default class PluginInit extends PluginTool {
  static override summary = 'Write a new extension that works, with a client for its node.';
  static override description = 'It needs nothing else: no registry, no compiler but for the kind binary.';
  static override examples = [
    '<%= config.bin %> plugin init battery-report',
    '<%= config.bin %> plugin init height --kind python --id com.acme.height',
  ];
  static override args = {
    name: Args.string({
      description: 'its folder and short name: small letters and hyphens',
      required: true,
    }),
  };
  static override flags = {
    kind: Flags.option({ options: KINDS, summary: 'what it is written in', default: 'node' as const })(),
    id: Flags.string({ summary: 'its id; by default org.example.NAME' }),
  };

  async run(): Promise<Project> {
    const { args, flags } = await this.parse(PluginInit);
    const { name } = args;
    if (!/^[a-z][a-z0-9-]{0,62}$/.test(name))
      this.error(`${name} is no name: small letters, digits and hyphens.`, { exit: EXIT.usage });
    const id = flags.id ?? `org.example.${name}`;
    if (!/^[a-z0-9]+(?:\.[a-z0-9-]+)+$/.test(id))
      this.error(`${id} is no id: write it like com.acme.thermal-camera.`, { exit: EXIT.usage });
    const files = await writeProject(name, flags.kind, id, title(name));
    for (const file of files) this.log(join(name, file));
    return { folder: name, id, kind: flags.kind, files };
  }
}

/** `battery-report` -> `Battery report` */
function title(name: string): string {
  const words = name.replaceAll('-', ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
