import { NodeCommand } from '../../node-command.ts';

export default class PinClearCommand extends NodeCommand {
  static override summary = 'Take the PIN of the page away; who is signed in with it is signed out.';
  static override examples = ['<%= config.bin %> pin clear'];

  async run(): Promise<unknown> {
    await this.parse(PinClearCommand);
    const answer = await this.api('POST', '/api/dashboard/pin/clear', {});
    this.log('No PIN is set.');
    return answer;
  }
}
