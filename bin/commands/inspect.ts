import { Args } from '@oclif/core';
import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

export default {
  inspect: requestCommand('GET /api/mavlink/messages', {
    summary: 'List the MAVLink messages on the link, or show one.',
    examples: ['inspect', 'inspect ATTITUDE'],
    args: { message: Args.string({ description: 'name of the message' }) },
    ask: ({ args: { message } }) => ({ query: { name: message?.toUpperCase() } }),
    *lines({ messages }, { args: { message } }) {
      yield* tableOf(
        ['FROM', 'MESSAGE', 'HZ', 'AGE (S)'],
        messages.map(({ system, component, id, name: known, hz, age_s: age }) => [
          `${system}/${component}`,
          known ?? `message ${id}`,
          hz.toFixed(1),
          age.toFixed(1),
        ]),
      );
      for (const { last } of message === undefined ? [] : messages)
        for (const [field, value] of Object.entries(last ?? {}))
          yield `        ${field.padEnd(24)}${Array.isArray(value) ? value.join(' ') : String(value ?? '-')}`;
      if (messages.length > 0) return;
      yield message === undefined ? 'Nothing has come yet.' : `${message.toUpperCase()} has not come.`;
    },
  }),
};
