import { Args } from '@oclif/core';
import { forceFlag } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import ConfigDiffCommand from './config/diff.ts';
import ConfigGetCommand from './config/get.ts';

export default {
  'config:get': ConfigGetCommand,
  'config:set': requestCommand('PUT /api/config', {
    summary: 'Change one key of the configuration.',
    examples: [
      'config set mavlink.source serial:/dev/ttyACM0:115200',
      'config set mavlink.endpoints udp:0.0.0.0:14550,tcp:127.0.0.1:5790',
    ],
    args: {
      key: Args.string({ description: 'for example mavlink.source', required: true }),
      value: Args.string({ description: 'as text; the schema says what it becomes', required: true }),
    },
    flags: forceFlag,
    ask: ({ args: { key, value }, flags: { force } }) => ({ body: { key, value, force } }),
    *lines({ key, value, restart_required: restart, note }) {
      yield `${key}: ${JSON.stringify(value)}`;
      if (note !== null) yield note;
      else if (restart.length > 0) yield `in force after: svc services restart ${restart.join(' and ')}`;
    },
  }),
  'config:diff': ConfigDiffCommand,
  'config:schema': requestCommand('GET /api/config/schema', {
    summary: 'Print the JSON Schema of the configuration: every key, its default, its bounds.',
    examples: ['config schema'],
    lines: (schema) => JSON.stringify(schema, null, 2).split('\n'),
  }),
};
