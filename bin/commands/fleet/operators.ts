import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Args } from '@oclif/core';
import { messageOf } from '../../../shared/errors.ts';
import { howToAllow } from '../../../shared/fleet/local-scopes.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { tableOf } from '../../cli/table.ts';

/** Whose confirmation counts: a name, and the public half of their Ed25519 key (`x` of the JWK). */
interface FleetOperator {
  readonly name: string;
  readonly key: string;
}

const KEY = 'fleet.operators';

/** A command about the operators of the node, who are a key of its config: `name key` each. */
abstract class FleetOperatorsCommand extends NodeCommand {
  #scopes: readonly string[] = [];

  protected async operators(): Promise<readonly FleetOperator[]> {
    const { fleet } = await this.call('GET /api/config');
    this.#scopes = fleet.scopes;
    return fleet.operators.map((line) => {
      const [name = '', key = ''] = line.split(' ');
      return { name, key };
    });
  }

  /** Says it where no confirmation helps, because the node lets its fleet have no flight at all. */
  protected sayCap(): void {
    if (!this.#scopes.includes('flight'))
      this.log(`The fleet still flies nothing here. ${howToAllow(['flight'], this.#scopes)}`);
  }

  /** @returns what is written, in force after a restart of the front */
  protected async write(operators: readonly FleetOperator[]): Promise<readonly FleetOperator[]> {
    const value = operators.map(({ name, key }) => `${name} ${key}`);
    const body = { key: KEY, value };
    const { restart_required: restart } = await this.call('PUT /api/config', { body });
    this.log(`in force after: svc services restart ${restart.join(' and ')}`);
    return operators;
  }
}

class FleetOperatorsListCommand extends FleetOperatorsCommand {
  static override aliases = ['fleet:operators:list'];
  static override summary = 'List the people whose confirmation counts for flight calls of the fleet.';
  static override description =
    'With none, flight and destructive calls of the fleet are refused. What calls may ask for at all is the config key fleet.scopes.';
  static override examples = ['<%= config.bin %> fleet operators'];

  async run(): Promise<readonly FleetOperator[]> {
    await this.parse(FleetOperatorsListCommand);
    const operators = await this.operators();
    const rows = operators.map(({ name, key }) => [name, key]);
    for (const line of tableOf(['NAME', 'KEY'], rows)) this.log(line);
    if (operators.length === 0) this.log('No operator: the fleet cannot fly this node.');
    else this.sayCap();
    return operators;
  }
}

class FleetOperatorsAddCommand extends FleetOperatorsCommand {
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

class FleetOperatorsRemoveCommand extends FleetOperatorsCommand {
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

/** `svc fleet operators` and the commands below it. */
export const operatorsCommands = {
  'fleet:operators': FleetOperatorsListCommand,
  'fleet:operators:add': FleetOperatorsAddCommand,
  'fleet:operators:remove': FleetOperatorsRemoveCommand,
};

/** @param text base64url of the public half, or the path of a PEM file with it. @throws Error saying why it is no key */
async function operatorKey(text: string): Promise<string> {
  if (/^[A-Za-z0-9_-]{43}$/.test(text)) return text;
  const pem = await readFile(text, 'utf8').catch((error: unknown) => {
    throw new Error(
      `${text} is neither a public key (43 characters) nor a file with one: ${messageOf(error)}`,
    );
  });
  if (pem.includes('PRIVATE'))
    throw new Error(`${text} is the private half, which stays with its owner. Name key.pub.`);
  const { publicJwk } = await import('../../../shared/fleet/signed.ts');
  return publicJwk(createPublicKey(pem)).x;
}
