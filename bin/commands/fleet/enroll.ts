import { Args } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class FleetEnrollCommand extends NodeCommand {
  static override summary = 'Join a fleet: the hub may then say who calls this node.';
  static override description =
    'The hub makes the code, for one node and once. The node compares the authority of the hub with the code before it sends anything. Whoever holds a credential of the fleet may then ask for what fleet.scopes allows; flight and destructive calls need an operator of this node too: svc fleet operators.';
  static override examples = [
    '<%= config.bin %> fleet enroll https://hub.example:8193 svc1-3f…-9a…',
    '<%= config.bin %> fleet enroll http://127.0.0.1:8190 svc1-3f…-9a…',
  ];
  static override args = {
    hub: Args.string({
      description: 'its address; plain http only for a hub on the same machine',
      required: true,
    }),
    code: Args.string({ description: 'as the hub prints it', required: true }),
  };

  async run(): Promise<Answer<'fleet.enroll.post'>> {
    const { args } = await this.parse(FleetEnrollCommand);
    const answer = await this.call('POST /api/fleet/enroll', { body: args });
    const { paired } = await this.call('GET /api/pairing/info');
    if (!paired)
      this.warn(
        'This node is not paired, so it answers no call of the fleet yet, and whoever is near may still make it theirs. Pair it: svc pair',
      );
    this.log(`Enrolled with ${answer.fleet ?? ''} as ${answer.node ?? ''}. The connection: svc fleet status`);
    return answer;
  }
}
