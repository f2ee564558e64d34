import { Args } from '@oclif/core';
import { requestCommand } from '../cli/request-command.ts';

export default {
  inspect: requestCommand('GET /api/mavlink/messages', {
    summary: 'List the MAVLink messages on the link, or show one.',
    examples: ['inspect', 'inspect ATTITUDE'],
    args: { message: Args.string({ description: 'name of the message' }) },
    ask: ({ args: { message } }) => ({ query: { name: message?.toUpperCase() } }),
    *lines({ messages }, { args: { message } }) {
      for (const { system, component, id, name: known, hz, age_s: age, last } of messages) {
        const from = `${system}/${component}`.padEnd(8);
        yield `${from}${(known ?? `message ${id}`).padEnd(32)}${hz.toFixed(1).padStart(7)} Hz  ${age.toFixed(1)} s ago`;
        if (message === undefined) continue;
        for (const [field, value] of Object.entries(last ?? {}))
          yield `        ${field.padEnd(24)}${Array.isArray(value) ? value.join(' ') : String(value ?? '-')}`;
      }
      if (messages.length > 0) return;
      yield message === undefined ? 'Nothing has come yet.' : `${message.toUpperCase()} has not come.`;
    },
  }),
};
