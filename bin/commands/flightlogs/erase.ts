import { requestCommand, switchFlag, usageError } from '../../request-command.ts';

export default requestCommand('DELETE /api/flight-logs', {
  summary: 'Erase all logs on the vehicle; what the node holds stays.',
  examples: ['flightlogs erase --yes'],
  flags: { yes: switchFlag('really erase them') },
  ask: ({ flags: { yes } }) => {
    if (!yes) throw usageError('This erases all logs on the vehicle. Add --yes.');
    return {};
  },
  lines: ({ erased, left }) => [`${erased} logs were erased, ${left} are left`],
});
