import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Args, Flags } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { type ParamValues, readParamFile } from '../../shared/flight/param-file.ts';
import { shownFloat } from '../../shared/flight/shown-float.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { forceFlag } from '../cli/node-command.ts';
import { requestCommand, usageError } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import { readText } from '../cli/text-file.ts';
import ParamsLoadCommand from './params/load.ts';
import { type ParamDifference, paramDifferences, writeParamFile } from './params/param-file.ts';
import { ParamsCommand } from './params/params-command.ts';

const NAME = Args.string({ description: 'as the vehicle spells it', required: true });

class ParamsListCommand extends ParamsCommand {
  static override summary = 'List the parameters of the vehicle.';
  static override examples = ['<%= config.bin %> params list', '<%= config.bin %> params list WPNAV'];
  static override args = { prefix: Args.string({ description: 'only names that begin so' }) };

  async run(): Promise<ParamValues> {
    const { args } = await this.parse(ParamsListCommand);
    const prefix = (args.prefix ?? '').toUpperCase();
    const found = Object.entries(await this.allParams())
      .filter(([name]) => name.startsWith(prefix))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const rows = found.map(([name, value]) => [name, shownFloat(value)]);
    for (const line of tableOf(['NAME', 'VALUE'], rows)) this.log(line);
    if (found.length === 0)
      this.log(prefix === '' ? 'The vehicle has no parameters.' : `No parameter begins with ${prefix}.`);
    return Object.fromEntries(found);
  }
}

/**
 * What the firmware itself writes: ArduPilot's statistics (AP_Stats) and how many items its lists have; PX4's flight time and the
 * number of its flights. Nobody has chosen these values, and they differ from their defaults after the first flight.
 */
const COUNTER = /^(?:STAT_\w+|(?:MIS|FENCE|RALLY)_TOTAL|LND_FLIGHT_T_(?:HI|LO)|COM_FLIGHT_UUID)$/;

class ParamsChangedCommand extends ParamsCommand {
  static override summary = 'List the parameters that differ from their defaults.';
  static override examples = ['<%= config.bin %> params changed'];

  async run(): Promise<unknown> {
    await this.parse(ParamsChangedCommand);
    await this.allParams();
    const answer = await this.call('GET /api/params/changed');
    const chosen = answer.changed.filter(({ name }) => !COUNTER.test(name));
    const rows = chosen.map(({ name, value, default: initial }) => [
      name,
      shownFloat(value),
      shownFloat(initial),
    ]);
    for (const line of tableOf(['NAME', 'VALUE', 'DEFAULT'], rows)) this.log(line);
    if (chosen.length === 0) this.log('Nothing differs from its default.');
    const counters = answer.changed.length - chosen.length;
    if (counters > 0) this.log(`Left out: what the vehicle counts by itself (${counters}); --json has it.`);
    if (answer.unknown > 0) this.log(`The defaults of ${answer.unknown} others are not known.`);
    return answer;
  }
}

class ParamsDiffCommand extends ParamsCommand {
  static override summary = 'Compare a parameter file with the vehicle; exit code 1 when they differ.';
  static override examples = ['<%= config.bin %> params diff before.param'];
  static override args = {
    file: Args.string({ required: true, description: 'a parameter file; - is stdin' }),
  };

  async run(): Promise<{ readonly differences: readonly ParamDifference[] }> {
    const { args } = await this.parse(ParamsDiffCommand);
    const file = readParamFile(await readText(this, args.file));
    const differences = paramDifferences(file, await this.allParams());
    const rows = differences.map(({ name, file: wanted, vehicle }) => [name, shown(wanted), shown(vehicle)]);
    for (const line of tableOf(['NAME', 'FILE', 'VEHICLE'], rows)) this.log(line);
    if (differences.length > 0) process.exitCode = EXIT.refused;
    else this.log('The vehicle has what the file says.');
    return { differences };
  }
}

class ParamsSaveCommand extends ParamsCommand {
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

export default {
  'params:list': ParamsListCommand,
  'params:get': requestCommand('GET /api/params/{name}', {
    summary: 'Show one parameter of the vehicle.',
    examples: ['params get RTL_ALT'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    lines: ({ value }) => [shownFloat(value)],
  }),
  'params:set': requestCommand('PUT /api/params/{name}', {
    summary: 'Write one parameter; done when the vehicle has reported the new value.',
    examples: ['params set RTL_ALT 3000'],
    args: {
      name: NAME,
      value: Args.string({ description: 'a number', required: true }),
    },
    flags: {
      ...forceFlag,
      confirm: Flags.string({
        summary: 'the name once more, for what makes the vehicle another one or erases it',
      }),
    },
    ask: ({ args: { name, value: text }, flags: { force, confirm } }) => {
      const value = Number(text);
      if (text.trim() === '' || !Number.isFinite(value)) throw usageError(`${text} is not a number`);
      return { params: { name }, body: { value, force, ...(confirm === undefined ? {} : { confirm }) } };
    },
    lines: ({ name, value, cached_value: now }) => [`${name} is ${shownFloat(now ?? value)}`],
  }),
  'params:explain': requestCommand('GET /api/params/{name}', {
    summary: 'Say what one parameter is for, its range and its default.',
    examples: ['params explain RTL_ALT'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    *lines({ name, value, default: initial, metadata }) {
      const units = metadata?.units == null ? '' : ` ${metadata.units}`;
      const usual = initial === null ? 'not known' : `${shownFloat(initial)}${units}`;
      yield `${name} is ${shownFloat(value)}${units}, the default is ${usual}`;
      if (metadata === null) {
        yield 'Nothing describes it. Give apm.pdef.json (ArduPilot) or parameters.json (PX4): svc params describe FILE';
        return;
      }
      const { label, description, min, max, values, bitmask, reboot_required: reboot } = metadata;
      if (label !== null) yield label;
      if (description !== null) yield description;
      if (min !== null || max !== null) yield `Range: ${min ?? 'any'} to ${max ?? 'any'}${units}`;
      for (const each of values ?? []) yield `${each.value === value ? '*' : ' '} ${each.value} ${each.text}`;
      for (const { bit, text } of bitmask ?? []) {
        // Division and not a shift: bit 31 of an unsigned value is above what a shift can tell.
        const set = Math.floor(value / 2 ** bit) % 2 !== 0;
        yield `${set ? '*' : ' '} bit ${bit} ${text}`;
      }
      if (reboot === true) yield 'A new value is used after a reboot.';
    },
  }),
  'params:describe': requestCommand('PUT /api/params/descriptions', {
    summary: 'Give the node descriptions of the parameters, from a file.',
    description:
      "PX4's parameters.json, or ArduPilot's apm.pdef.json of this kind of vehicle: https://autotest.ardupilot.org/Parameters/",
    examples: ['params describe apm.pdef.json'],
    args: { file: Args.string({ description: 'as it is, or as .xz', required: true }) },
    ask: async ({ args: { file } }) => {
      const bytes = await readFile(file).catch((error: unknown) => {
        throw usageError(`The file cannot be read: ${messageOf(error)}.`);
      });
      const content = Readable.from([bytes], { objectMode: false });
      return { upload: () => ({ type: 'application/octet-stream', length: bytes.length, content }) };
    },
    lines: ({ described }) => [`${described} parameters are described. See: svc params explain NAME`],
  }),
  'params:changed': ParamsChangedCommand,
  'params:diff': ParamsDiffCommand,
  'params:load': ParamsLoadCommand,
  'params:save': ParamsSaveCommand,
};

function shown(value: number | null): string {
  return value === null ? '-' : shownFloat(value);
}
