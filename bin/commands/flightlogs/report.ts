import { Args } from '@oclif/core';
import { reportLines } from '../../report-lines.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/flight-logs/{id}/report', {
  summary: 'What happened in a flight, from a log of the vehicle.',
  examples: ['flightlogs report 12'],
  args: { id: Args.integer({ description: 'its number in the list', required: true }) },
  ask: ({ args: { id } }) => ({ params: { id: String(id) } }),
  isLong: true,
  lines: reportLines,
});
