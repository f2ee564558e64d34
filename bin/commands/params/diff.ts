import { Args } from '@oclif/core';
import { readParamFile } from '../../../shared/flight/param-file.ts';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { readText } from '../../cli/text-file.ts';
import { type ParamDifference, paramDifferences } from './param-file.ts';
import { ParamsCommand } from './params-command.ts';

export default class ParamsDiffCommand extends ParamsCommand {
  static override summary = 'Compare a parameter file with the vehicle; exit code 1 when they differ.';
  static override examples = ['<%= config.bin %> params diff before.param'];
  static override args = {
    file: Args.string({ required: true, description: 'a parameter file; - is stdin' }),
  };

  async run(): Promise<{ readonly differences: readonly ParamDifference[] }> {
    const { args } = await this.parse(ParamsDiffCommand);
    const file = readParamFile(await readText(this, args.file));
    const differences = paramDifferences(file, await this.allParams());
    for (const { name, file: wanted, vehicle } of differences)
      this.log(`${name.padEnd(16)} file ${shown(wanted).padEnd(14)} vehicle ${shown(vehicle)}`);
    if (differences.length > 0) process.exitCode = EXIT.refused;
    else this.log('The vehicle has what the file says.');
    return { differences };
  }
}

function shown(value: number | null): string {
  return value === null ? '-' : shownFloat(value);
}
