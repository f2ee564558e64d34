import { Args } from '@oclif/core';
import { reportLines } from '../../shared/reports/report-lines.ts';
import { requestCommand, switchFlag, usageError } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import FlightLogsGetCommand from './flightlogs/get.ts';

export default {
  'flightlogs:list': requestCommand('GET /api/flight-logs', {
    summary: 'List the logs on the vehicle.',
    examples: ['flightlogs list'],
    *lines({ logs, note }) {
      const here = (held: number, size: number, complete: boolean): string =>
        held >= size
          ? 'whole'
          : complete
            ? `whole; the vehicle has ${held} bytes of it`
            : `${((100 * held) / size).toFixed(0)} %`;
      yield* tableOf(
        ['ID', 'TIME', 'BYTES', 'ON THIS NODE'],
        logs.map(({ id, size, time, held, complete }) => [
          id,
          time ?? 'not known',
          size,
          here(held, size, complete),
        ]),
      );
      if (logs.length === 0) yield 'No logs.';
      if (note !== null) yield note;
    },
  }),
  'flightlogs:get': FlightLogsGetCommand,
  'flightlogs:report': requestCommand('GET /api/flight-logs/{id}/report', {
    summary: 'What happened in a flight, from a log of the vehicle.',
    examples: ['flightlogs report 12'],
    args: { id: Args.integer({ description: 'its number in the list', required: true }) },
    ask: ({ args: { id } }) => ({ params: { id: String(id) } }),
    isLong: true,
    lines: reportLines,
  }),
  'flightlogs:erase': requestCommand('DELETE /api/flight-logs', {
    summary: 'Erase all logs on the vehicle; what the node holds stays.',
    examples: ['flightlogs erase --yes'],
    flags: { yes: switchFlag('really erase them') },
    ask: ({ flags: { yes } }) => {
      if (!yes) throw usageError('This erases all logs on the vehicle. Add --yes.');
      return {};
    },
    lines: ({ erased, left }) => [`${erased} logs were erased, ${left} are left`],
  }),
};
