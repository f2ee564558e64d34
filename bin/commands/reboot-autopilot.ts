import type { Answer } from '../../shared/routes/typed-row.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';

class RebootAutopilotCommand extends NodeCommand {
  static override summary = 'Reboot the flight controller; exit code 0 only when it is back.';
  static override description =
    'Refused while the vehicle is armed, or may be. The node itself and its links to ground stations go on.';
  static override examples = ['<%= config.bin %> reboot-autopilot'];

  async run(): Promise<Answer<'command.post'>> {
    await this.parse(RebootAutopilotCommand);
    // It takes longer than one request of this command line may.
    const answer = await this.work('POST /api/command', { body: { cmd: 'rebootAutopilot' } });
    const { status, ack, back_after_s: back } = answer;
    if (status === 'accepted' && typeof back === 'number') {
      this.log(`Flight controller back after ${back} s.`);
      return answer;
    }
    process.exitCode = EXIT.refused;
    const words = ack.statustext ?? ack.result_name ?? 'no answer';
    this.log(
      status === 'rejected'
        ? `The vehicle refused: ${words}`
        : 'No heartbeat within 60 s of the reboot. Check the flight controller before you fly.',
    );
    return answer;
  }
}

export default { 'reboot-autopilot': RebootAutopilotCommand };
