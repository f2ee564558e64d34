import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/flight-logs', {
  summary: 'List the logs on the vehicle.',
  examples: ['flightlogs list'],
  *lines({ logs, note }) {
    for (const { id, size, time, held, complete } of logs) {
      const here =
        held >= size
          ? 'on this node'
          : complete
            ? `on this node: the vehicle has ${held} bytes of it`
            : held > 0
              ? `${((100 * held) / size).toFixed(0)} % on this node`
              : '';
      yield `${String(id).padStart(5)} ${(time ?? 'time not known').padEnd(25)} ${String(size).padStart(12)} bytes ${here}`.trimEnd();
    }
    if (logs.length === 0) yield 'No logs.';
    if (note !== null) yield note;
  },
});
