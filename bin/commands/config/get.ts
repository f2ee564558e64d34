import { Args } from '@oclif/core';
import { valueAt } from '../../../shared/config/keys.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class ConfigGetCommand extends NodeCommand {
  static override summary = 'Show the configuration, or one key of it; secrets are masked.';
  static override examples = ['<%= config.bin %> config get', '<%= config.bin %> config get mavlink.source'];
  static override args = { key: Args.string({ description: 'for example mavlink.source' }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(ConfigGetCommand);
    const config = await this.call('GET /api/config');
    const { key } = args;
    const value = key === undefined ? config : valueAt(config, key);
    if (value === undefined)
      this.error(`There is no config key ${key ?? ''}. See config schema.`, { exit: EXIT.refused });
    if (typeof value === 'string') this.log(value);
    else this.logPretty(value);
    return value;
  }
}
