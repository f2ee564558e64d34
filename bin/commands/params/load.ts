import { Args, Flags } from '@oclif/core';
import { readParamFile } from '../../../shared/flight/param-file.ts';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { classOfParam, isReservedParam } from '../../../shared/mavlink/param-classes.ts';
import { forceFlag } from '../../cli/node-command.ts';
import { readText } from '../../cli/text-file.ts';
import { paramDifferences } from './param-file.ts';
import { ParamsCommand } from './params-command.ts';

const BATCH = 25;

export default class ParamsLoadCommand extends ParamsCommand {
  static override summary = 'Write the parameters of a file that differ; says what was left out.';
  static override examples = [
    '<%= config.bin %> params load before.param --dry-run',
    '<%= config.bin %> params load before.param',
  ];
  static override args = {
    file: Args.string({ required: true, description: 'a parameter file; - is stdin' }),
  };
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'only show what would be written', default: false }),
    ...forceFlag,
  };

  async run(): Promise<{
    readonly written: readonly string[];
    readonly unknown: readonly string[];
    readonly reserved: readonly string[];
  }> {
    const { args, flags } = await this.parse(ParamsLoadCommand);
    const file = readParamFile(await readText(this, args.file));
    const vehicle = await this.allParams();
    const unknown = Object.keys(file).filter((name) => !Object.hasOwn(vehicle, name));
    const differing = paramDifferences(file, vehicle).flatMap(({ name, file: value, vehicle: now }) =>
      value === null || now === null ? [] : [{ name, value, now }],
    );
    const wanted = differing.filter(({ name }) => !isReservedParam(name));
    const reserved = differing.filter(({ name }) => isReservedParam(name)).map(({ name }) => name);
    for (const name of unknown) this.logToStderr(`${name}: the vehicle has no such parameter; left out`);
    for (const name of reserved)
      this.logToStderr(
        `${name}: ${classOfParam(name).reason}; left out (svc params set ${name} VALUE --confirm ${name})`,
      );
    const written: string[] = [];
    for (let at = 0; at < wanted.length; at += BATCH) {
      const batch = wanted.slice(at, at + BATCH);
      for (const { name, value, now } of batch)
        this.log(`${name.padEnd(16)} ${shownFloat(now)} -> ${shownFloat(value)}`);
      if (flags['dry-run']) continue;
      const params = Object.fromEntries(batch.map(({ name, value }) => [name, value]));
      await this.call('PUT /api/params', { body: { params, force: flags.force } });
      written.push(...batch.map(({ name }) => name));
    }
    this.log(flags['dry-run'] ? `${wanted.length} would be written` : `${written.length} written`);
    return { written, unknown, reserved };
  }
}
