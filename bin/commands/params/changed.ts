import { ParamsCommand } from '../../params-command.ts';

interface Changed {
  readonly changed: readonly { readonly name: string; readonly value: number; readonly default: number }[];
  readonly unknown: number;
}

export default class ParamsChangedCommand extends ParamsCommand {
  static override summary = 'List the parameters that differ from their defaults.';
  static override examples = ['<%= config.bin %> params changed'];

  async run(): Promise<unknown> {
    await this.parse(ParamsChangedCommand);
    await this.allParams();
    const answer = (await this.api('GET', '/api/params/changed')) as Changed;
    for (const { name, value, default: initial } of answer.changed)
      this.log(`${name.padEnd(16)} ${String(value).padEnd(22)} default ${initial}`);
    if (answer.unknown > 0) this.log(`The defaults of ${answer.unknown} others are not known.`);
    return answer;
  }
}
