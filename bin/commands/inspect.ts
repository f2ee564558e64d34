import { Args } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';

type Messages = Answer<'mavlink.messages.get'>;

class InspectCommand extends NodeCommand {
  static override summary = 'List the MAVLink messages on the link, or show one.';
  static override examples = ['<%= config.bin %> inspect', '<%= config.bin %> inspect ATTITUDE'];
  static override args = { message: Args.string({ description: 'name of the message' }) };

  async run(): Promise<Messages> {
    const { message } = (await this.parse(InspectCommand)).args;
    const name = message?.toUpperCase();
    const answer = await this.call(
      'GET /api/mavlink/messages',
      name === undefined ? {} : { query: { name } },
    );
    for (const { system, component, id, name: known, hz, age_s: age, last } of answer.messages) {
      const from = `${system}/${component}`.padEnd(8);
      this.log(
        `${from}${(known ?? `message ${id}`).padEnd(32)}${hz.toFixed(1).padStart(7)} Hz  ${age.toFixed(1)} s ago`,
      );
      if (name === undefined) continue;
      for (const [field, value] of Object.entries(last ?? {}))
        this.log(
          `        ${field.padEnd(24)}${Array.isArray(value) ? value.join(' ') : String(value ?? '-')}`,
        );
    }
    if (answer.messages.length === 0)
      this.log(name === undefined ? 'Nothing has come yet.' : `${name} has not come.`);
    return answer;
  }
}

export default { inspect: InspectCommand };
