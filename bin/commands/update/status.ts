import type { UpdateStatus } from '../../../shared/schemas/update.ts';
import { NodeCommand } from '../../node-command.ts';

export default class UpdateStatusCommand extends NodeCommand {
  static override summary = 'Show which version runs, which one was before it, and how an update goes.';
  static override examples = ['<%= config.bin %> update status'];

  async run(): Promise<UpdateStatus> {
    await this.parse(UpdateStatusCommand);
    const status = (await this.api('GET', '/api/v1/system/update')) as UpdateStatus;
    const { running, previous, step, percent, error } = status;
    this.log(`running    ${running}`);
    this.log(`previous   ${previous ?? 'none'}`);
    this.log(`update     ${step}${percent === null ? '' : ` ${Math.round(percent)} %`}`);
    if (error !== null) this.log(`           ${error}`);
    return status;
  }
}
