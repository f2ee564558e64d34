import { Args } from '@oclif/core';
import { EXIT } from '../../../exit-codes.ts';
import { type FleetOperator, FleetOperatorsCommand } from '../../../fleet-operators.ts';

export default class FleetOperatorsRemoveCommand extends FleetOperatorsCommand {
  static override summary = 'Let the confirmation of a person no longer count on this node.';
  static override examples = ['<%= config.bin %> fleet operators remove ada'];
  static override args = {
    name: Args.string({ description: 'as svc fleet operators lists it', required: true }),
  };

  async run(): Promise<readonly FleetOperator[]> {
    const { args } = await this.parse(FleetOperatorsRemoveCommand);
    const present = await this.operators();
    const left = present.filter(({ name }) => name !== args.name);
    if (left.length === present.length)
      this.error(`No operator is called ${args.name}.`, { exit: EXIT.refused });
    return this.write(left);
  }
}
