import { requestCommand } from '../cli/request-command.ts';
import PinSetCommand from './pin/set.ts';

export default {
  'pin:status': requestCommand('GET /api/dashboard/pin/status', {
    summary: 'Show whether a PIN is set, and whether failures have locked it for you.',
    examples: ['pin status', 'pin status --json'],
    *lines({ pin_set: isSet, locked, retry_after_s: wait }) {
      yield isSet ? 'A PIN is set.' : 'No PIN is set.';
      if (locked) yield `Locked after failures; the next try counts in ${wait ?? 0} s.`;
    },
  }),
  'pin:set': PinSetCommand,
  'pin:clear': requestCommand('POST /api/dashboard/pin/clear', {
    summary: 'Take the PIN of the page away; who is signed in with it is signed out.',
    examples: ['pin clear'],
    lines: () => ['No PIN is set.'],
  }),
};
