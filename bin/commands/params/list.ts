import { Args } from '@oclif/core';
import type { ParamValues } from '../../../shared/flight/param-file.ts';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { ParamsCommand } from './params-command.ts';

export default class ParamsListCommand extends ParamsCommand {
  static override summary = 'List the parameters of the vehicle.';
  static override examples = ['<%= config.bin %> params list', '<%= config.bin %> params list WPNAV'];
  static override args = { prefix: Args.string({ description: 'only names that begin so' }) };

  async run(): Promise<ParamValues> {
    const { args } = await this.parse(ParamsListCommand);
    const prefix = (args.prefix ?? '').toUpperCase();
    const found = Object.entries(await this.allParams())
      .filter(([name]) => name.startsWith(prefix))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, value] of found) this.log(`${name.padEnd(16)} ${shownFloat(value)}`);
    if (found.length === 0)
      this.log(prefix === '' ? 'The vehicle has no parameters.' : `No parameter begins with ${prefix}.`);
    return Object.fromEntries(found);
  }
}
