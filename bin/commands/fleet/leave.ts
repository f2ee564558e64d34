import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/fleet/enrollment', {
  summary: 'Leave the fleet, also while its hub is away.',
  description:
    'Removes the keys, the certificate and the events that the hub has not stored yet. The hub still lists the node until it is removed there.',
  examples: ['fleet leave'],
  lines: ({ fleet }) => [fleet === null ? 'Enrolment removed.' : `Left ${fleet}.`],
});
