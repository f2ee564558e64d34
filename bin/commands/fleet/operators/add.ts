import { Args } from '@oclif/core';
import { messageOf } from '../../../../shared/errors.ts';
import { EXIT } from '../../../exit-codes.ts';
import { type FleetOperator, FleetOperatorsCommand, operatorKey } from '../../../fleet-operators.ts';

export default class FleetOperatorsAddCommand extends FleetOperatorsCommand {
  static override summary = 'Let the confirmation of a person count on this node.';
  static override description =
    'Their confirmation is needed besides the scope: the config key fleet.scopes must have flight (and destructive) before the fleet flies this node.';
  static override examples = [
    '<%= config.bin %> fleet operators add ada ~/.svc/operator/key.pub',
    '<%= config.bin %> fleet operators add ada 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  ];
  static override args = {
    name: Args.string({ description: 'letters, digits, dots and dashes', required: true }),
    key: Args.string({
      description: 'the public half of their Ed25519 key, base64url, or the path of their key.pub',
      required: true,
    }),
  };

  /** One key in 64 begins as a flag does. */
  override async init(): Promise<void> {
    const keys = this.argv.filter((text) => /^-[A-Za-z0-9_-]{42}$/.test(text));
    if (keys.length > 0) this.argv = [...this.argv.filter((text) => !keys.includes(text)), '--', ...keys];
    await super.init();
  }

  async run(): Promise<readonly FleetOperator[]> {
    const { args } = await this.parse(FleetOperatorsAddCommand);
    const key = await operatorKey(args.key).catch((error: unknown) =>
      this.error(messageOf(error), { exit: EXIT.usage }),
    );
    const present = await this.operators();
    const other = present.find((each) => each.name === args.name && each.key !== key);
    if (other !== undefined)
      this.error(`${args.name} has another key. Remove it first: svc fleet operators remove ${args.name}`, {
        exit: EXIT.refused,
      });
    const written = await this.write([
      ...present.filter(({ name }) => name !== args.name),
      { name: args.name, key },
    ]);
    this.sayCap();
    return written;
  }
}
