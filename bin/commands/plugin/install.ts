import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Args, Flags } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { signature } from './plugin-command.ts';
import { PLUGIN_EXIT } from './plugin-exit.ts';
import { isGrave, PluginNodeCommand } from './plugin-node-command.ts';

export default class PluginInstall extends PluginNodeCommand {
  static override summary =
    'Install an extension from a file, after showing who signed it and what it wants.';
  static override description =
    'It does not start: enable it. Permissions of high or critical risk are not granted here, but one by one: plugin perms.';
  static override examples = [
    '<%= config.bin %> plugin install thermal-1.0.0.svcplug',
    '<%= config.bin %> plugin install thermal-1.0.0.svcplug --yes',
  ];
  static override args = { archive: Args.string({ required: true, description: 'a .svcplug file' }) };
  static override flags = {
    yes: Flags.boolean({ char: 'y', summary: 'do not ask, and grant all but grave permissions' }),
    force: Flags.boolean({ summary: 'even while the vehicle is armed' }),
  };

  async run(): Promise<Answer<'plugins.install.post'>> {
    const { args, flags } = await this.parse(PluginInstall);
    const found = await stat(args.archive).catch(() => null); // said below
    if (found?.isFile() !== true)
      this.error(`There is no file ${args.archive}.`, { exit: PLUGIN_EXIT.generic_failure });
    const parsed = await this.upload('POST /api/plugins/parse', args.archive);
    this.log(`${parsed.name}: ${parsed.plugin_id} ${parsed.version}, ${signature(parsed.signer_id)}`);
    if (parsed.signature_problem !== null) this.warn(parsed.signature_problem);
    for (const warning of parsed.warnings) this.warn(warning);
    if (parsed.permissions.length > 0) this.log('It asks for:');
    this.showPermissions(parsed.permissions);
    const offered = parsed.permissions.filter(({ available }) => available);
    const grave = offered.filter(isGrave);
    const granted = offered.filter((permission) => !isGrave(permission)).map(({ id }) => id);
    if (flags.yes && grave.some(({ required }) => required))
      this.error(
        `--yes does not stand for ${grave.map(({ id }) => id).join(', ')}. Install it without --yes, then: plugin perms ${parsed.plugin_id} --grant PERMISSION --yes`,
        { exit: PLUGIN_EXIT.permission_denied },
      );
    if (!flags.yes && !(await this.agreed(granted)))
      this.error('Nothing was installed.', { exit: PLUGIN_EXIT.permission_denied });
    const done = await this.upload('POST /api/plugins/install', args.archive, {
      requested_permissions: granted.length === 0 ? null : granted.join(','),
      force: flags.force,
    });
    this.log(`${done.plugin_id} ${done.version} is installed. Start it: svc plugin enable ${done.plugin_id}`);
    if (grave.length > 0)
      this.log(
        `Not granted: ${grave.map(({ id }) => id).join(', ')}. To grant one: svc plugin perms ${done.plugin_id} --grant PERMISSION --yes`,
      );
    return done;
  }

  private async agreed(granted: readonly string[]): Promise<boolean> {
    if (!process.stdin.isTTY || this.jsonEnabled())
      this.error('Nobody can be asked here. Look at what it wants, then repeat with --yes.', {
        exit: PLUGIN_EXIT.permission_denied,
      });
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const what = granted.length === 0 ? '' : ` and grant ${granted.join(', ')}`;
      return /^y(es)?$/i.test((await terminal.question(`Install it${what}? [y/N] `)).trim());
    } finally {
      terminal.close();
    }
  }
}
