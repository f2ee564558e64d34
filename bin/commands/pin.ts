import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { hiddenInput } from '../terminal/hidden-input.ts';

class PinSetCommand extends NodeCommand {
  static override summary = 'Set the PIN of the page; who is signed in with the old one is signed out.';
  static override description =
    '4 to 12 digits, typed at a prompt that does not show them, or the first line of stdin.';
  static override examples = ['<%= config.bin %> pin set', '<%= config.bin %> pin set < pin.txt'];

  async run(): Promise<{ readonly pin_set: true }> {
    await this.parse(PinSetCommand);
    const pin = await hiddenInput('New PIN (4 to 12 digits): ');
    if (!/^[0-9]{4,12}$/.test(pin)) this.error('A PIN is 4 to 12 digits.', { exit: EXIT.usage });
    if (process.stdin.isTTY && (await hiddenInput('The same again: ')) !== pin)
      this.error('The two do not match. Nothing changed.', { exit: EXIT.usage });
    await this.call('POST /api/dashboard/pin/set', { body: { pin } }); // the session in the answer is of no use here
    this.log('PIN set.');
    return { pin_set: true };
  }
}

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
