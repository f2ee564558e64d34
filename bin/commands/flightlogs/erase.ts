import { Flags } from '@oclif/core';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

export default class FlightLogsEraseCommand extends NodeCommand {
  static override summary = 'Erase all logs on the vehicle; what the node holds stays.';
  static override examples = ['<%= config.bin %> flightlogs erase --yes'];
  static override flags = { yes: Flags.boolean({ summary: 'really erase them', default: false }) };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(FlightLogsEraseCommand);
    if (!flags.yes) this.error('This erases all logs on the vehicle. Add --yes.', { exit: EXIT.usage });
    const answer = (await this.api('DELETE', '/api/flight-logs')) as {
      readonly erased: number;
      readonly left: number;
    };
    this.log(`${answer.erased} logs were erased, ${answer.left} are left`);
    return answer;
  }
}
