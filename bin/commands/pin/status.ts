import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/dashboard/pin/status', {
  summary: 'Show whether a PIN is set, and whether failures have locked it for you.',
  examples: ['pin status', 'pin status --json'],
  *lines({ pin_set: isSet, locked, retry_after_s: wait }) {
    yield isSet ? 'A PIN is set.' : 'No PIN is set.';
    if (locked) yield `Locked after failures; the next try counts in ${wait ?? 0} s.`;
  },
});
