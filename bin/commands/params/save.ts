import { Args } from '@oclif/core';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { writeParamFile } from './param-file.ts';
import { ParamsCommand } from './params-command.ts';

export default class ParamsSaveCommand extends ParamsCommand {
  static override summary = 'Save all parameters to a file that Mission Planner and MAVProxy read too.';
  static override examples = ['<%= config.bin %> params save before.param'];
  static override args = { file: Args.string({ required: true }) };

  async run(): Promise<{ readonly file: string; readonly count: number }> {
    const { args } = await this.parse(ParamsSaveCommand);
    const params = await this.allParams();
    await writeAtomic(args.file, writeParamFile(params, `saved by svc, ${new Date().toISOString()}`), 0o644);
    const count = Object.keys(params).length;
    this.log(`${args.file}: ${count} parameters`);
    return { file: args.file, count };
  }
}
