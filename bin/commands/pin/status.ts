import type { FromSchema } from 'json-schema-to-ts';
import type { pinStatus } from '../../../shared/schemas/dashboard.ts';
import { NodeCommand } from '../../node-command.ts';

type Status = FromSchema<typeof pinStatus>;

export default class PinStatusCommand extends NodeCommand {
  static override summary = 'Show whether a PIN is set, and whether failures have locked it for you.';
  static override examples = ['<%= config.bin %> pin status', '<%= config.bin %> pin status --json'];

  async run(): Promise<Status> {
    await this.parse(PinStatusCommand);
    const status = (await this.api('GET', '/api/dashboard/pin/status')) as Status;
    this.log(status.pin_set ? 'A PIN is set.' : 'No PIN is set.');
    if (status.locked)
      this.log(`Locked after failures; the next try counts in ${status.retry_after_s ?? 0} s.`);
    return status;
  }
}
