import type { FromSchema } from 'json-schema-to-ts';
import type { fleetLeft } from '../../../shared/schemas/fleet.ts';
import { NodeCommand } from '../../node-command.ts';

type Left = FromSchema<typeof fleetLeft>;

export default class FleetLeaveCommand extends NodeCommand {
  static override summary = 'Leave the fleet, also while its hub is away.';
  static override description =
    'Removes the keys, the certificate and the events that the hub has not stored yet. The hub still lists the node until it is removed there.';
  static override examples = ['<%= config.bin %> fleet leave'];

  async run(): Promise<Left> {
    await this.parse(FleetLeaveCommand);
    const answer = (await this.api('DELETE', '/api/fleet/enrollment')) as Left;
    this.log(answer.fleet === null ? 'Enrolment removed.' : `Left ${answer.fleet}.`);
    return answer;
  }
}
