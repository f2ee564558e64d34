import { Args, Flags } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { forceFlag } from '../../node-command.ts';
import { requestCommand, usageError } from '../../request-command.ts';

export default requestCommand('PUT /api/params/{name}', {
  summary: 'Write one parameter; done when the vehicle has reported the new value.',
  examples: ['params set RTL_ALT 3000'],
  args: {
    name: Args.string({ description: 'as the vehicle spells it', required: true }),
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
});
