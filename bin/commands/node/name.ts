import { Args } from '@oclif/core';
import { NodeCommand } from '../../cli/node-command.ts';

interface Named {
  readonly name: string;
  /** Processes that take the new name at their next start. */
  readonly restart_required: readonly string[];
}

export default class NodeNameCommand extends NodeCommand {
  static override summary = 'Show the name of the node, or give it another one.';
  static override examples = ['<%= config.bin %> node name', '<%= config.bin %> node name kestrel'];
  static override args = {
    name: Args.string({ description: 'the new name; "" for the one made from its device id' }),
  };

  async run(): Promise<Named> {
    const { args } = await this.parse(NodeNameCommand);
    if (args.name === undefined) {
      const { name } = await this.call('GET /api/pairing/info');
      this.log(name);
      return { name, restart_required: [] };
    }
    const body = { key: 'agent.name', value: args.name };
    const { restart_required: restart } = await this.call('PUT /api/config', { body });
    this.log(args.name === '' ? 'Its name is made from its device id.' : `Its name is ${args.name}.`);
    if (restart.length > 0) this.log(`in force after: svc services restart ${restart.join(' and ')}`);
    return { name: args.name, restart_required: restart };
  }
}
