import { requestCommand } from '../../request-command.ts';

export default requestCommand('POST /api/dashboard/pin/clear', {
  summary: 'Take the PIN of the page away; who is signed in with it is signed out.',
  examples: ['pin clear'],
  lines: () => ['No PIN is set.'],
});
