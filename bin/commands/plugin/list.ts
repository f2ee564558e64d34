import type { Answer } from '../../../shared/routes/typed-row.ts';
import { signature } from './plugin-command.ts';
import { PluginNodeCommand } from './plugin-node-command.ts';

export default class PluginList extends PluginNodeCommand {
  static override summary = 'The extensions of the node.';
  static override examples = ['<%= config.bin %> plugin list'];

  async run(): Promise<Answer<'plugins.get'>['installs']> {
    await this.parse(PluginList);
    const { installs } = await this.call('GET /api/plugins');
    if (installs.length === 0) this.log('No extensions installed.');
    for (const { plugin_id: id, version, status, signer_id: signer, failure_reason: reason } of installs)
      this.log(
        `${id.padEnd(36)} ${version.padEnd(10)} ${status.padEnd(12)} ${signature(signer)}${reason === null ? '' : `; ${reason}`}`,
      );
    return installs;
  }
}
