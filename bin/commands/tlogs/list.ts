import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/tlogs', {
  summary: 'List the telemetry logs of the node.',
  examples: ['tlogs list'],
  *lines({ tlogs, writing, problem }) {
    for (const { name, size_bytes: size, modified_at: at } of tlogs)
      yield `${name.padEnd(30)} ${String(size).padStart(12)} bytes  ${at}${name === writing ? '  being written' : ''}`;
    if (tlogs.length === 0) yield 'No telemetry logs.';
    if (problem !== null) yield problem;
  },
});
