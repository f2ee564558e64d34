import { Args, Flags } from '@oclif/core';
import { PLUGIN_EXIT } from './plugin-exit.ts';
import { type Detail, isGrave, PluginNodeCommand } from './plugin-node-command.ts';

export default class PluginPerms extends PluginNodeCommand {
  static override summary = 'What an extension may do; grant or revoke it.';
  static override examples = [
    '<%= config.bin %> plugin perms org.example.thermal',
    '<%= config.bin %> plugin perms org.example.thermal --grant telemetry.read',
    '<%= config.bin %> plugin perms org.example.thermal --revoke network.outbound',
  ];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };
  static override flags = {
    grant: Flags.string({ summary: 'a permission to grant', exclusive: ['revoke'] }),
    revoke: Flags.string({ summary: 'a permission to take away' }),
    yes: Flags.boolean({ char: 'y', summary: 'grant it although its risk is high or critical' }),
    force: Flags.boolean({ summary: 'even while the vehicle is armed' }),
  };

  async run(): Promise<Pick<Detail, 'granted_capabilities'>> {
    const { args, flags } = await this.parse(PluginPerms);
    const { id } = args;
    const { grant, revoke, force } = flags;
    if (grant !== undefined) {
      const { manifest } = await this.detail(id);
      const asked = manifest?.permissions.filter((each) => each.id === grant) ?? [];
      if (asked.some(isGrave) && !flags.yes) {
        this.showPermissions(asked);
        this.error(`${grant} is grave. If you want that, repeat with --yes.`, {
          exit: PLUGIN_EXIT.permission_denied,
        });
      }
      const body = { permission_id: grant, force };
      await this.call('POST /api/plugins/{id}/grant', { params: { id }, body });
    }
    if (revoke !== undefined)
      await this.call('DELETE /api/plugins/{id}/perms/{perm}', {
        params: { id, perm: revoke },
        query: { force },
      });
    const { manifest, granted_capabilities: granted } = await this.detail(id);
    this.showPermissions(manifest?.permissions ?? [], new Set(granted));
    return { granted_capabilities: granted };
  }
}
