import { Args } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/params/{name}', {
  summary: 'Say what one parameter is for, its range and its default.',
  examples: ['params explain RTL_ALT'],
  args: { name: Args.string({ description: 'as the vehicle spells it', required: true }) },
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
});
