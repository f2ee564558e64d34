import { Args, Flags } from '@oclif/core';
import { shownFloat } from '../../shared/flight/shown-float.ts';
import { forceFlag } from '../cli/node-command.ts';
import { requestCommand, usageError } from '../cli/request-command.ts';
import ParamsChangedCommand from './params/changed.ts';
import ParamsDiffCommand from './params/diff.ts';
import ParamsListCommand from './params/list.ts';
import ParamsLoadCommand from './params/load.ts';
import ParamsSaveCommand from './params/save.ts';

const NAME = Args.string({ description: 'as the vehicle spells it', required: true });

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
        yield 'Nothing describes it. Put apm.pdef.json (ArduPilot) or parameters.json (PX4) below param-metadata/.';
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
  'params:changed': ParamsChangedCommand,
  'params:diff': ParamsDiffCommand,
  'params:load': ParamsLoadCommand,
  'params:save': ParamsSaveCommand,
};
