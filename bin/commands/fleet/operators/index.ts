import { type FleetOperator, FleetOperatorsCommand } from '../../../fleet-operators.ts';

export default class FleetOperatorsListCommand extends FleetOperatorsCommand {
  static override aliases = ['fleet:operators:list'];
  static override summary = 'List the people whose confirmation counts for flight calls of the fleet.';
  static override description =
    'With none, flight and destructive calls of the fleet are refused. What calls may ask for at all is the config key fleet.scopes.';
  static override examples = ['<%= config.bin %> fleet operators'];

  async run(): Promise<readonly FleetOperator[]> {
    await this.parse(FleetOperatorsListCommand);
    const operators = await this.operators();
    for (const { name, key } of operators) this.log(`${name.padEnd(24)} ${key}`);
    if (operators.length === 0) this.log('No operator: the fleet cannot fly this node.');
    else this.sayCap();
    return operators;
  }
}
