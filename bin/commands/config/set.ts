import { Args } from '@oclif/core';
import { forceFlag } from '../../node-command.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('PUT /api/config', {
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
});
