import { Args } from '@oclif/core';
import { reportLines } from '../../report-lines.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/tlogs/{name}/report', {
  summary: 'What happened in a flight, from a telemetry log of the node.',
  examples: ['tlogs report 20261127T063000.000Z.tlog'],
  args: { name: Args.string({ description: 'its name in the list', required: true }) },
  ask: ({ args: { name } }) => ({ params: { name } }),
  isLong: true,
  lines: reportLines,
});
