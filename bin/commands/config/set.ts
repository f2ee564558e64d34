import { Args, Flags } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class ConfigSetCommand extends NodeCommand {
  static override summary = 'Change one key of the configuration.';
  static override examples = [
    '<%= config.bin %> config set mavlink.source serial:/dev/ttyACM0:115200',
    '<%= config.bin %> config set mavlink.endpoints udp:0.0.0.0:14550,tcp:127.0.0.1:5790',
  ];
  static override args = {
    key: Args.string({ description: 'for example mavlink.source', required: true }),
    value: Args.string({ description: 'as text; the schema says what it becomes', required: true }),
  };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ConfigSetCommand);
    const answer = (await this.api('PUT', '/api/config', {
      key: args.key,
      value: args.value,
      ...(flags.force ? { force: true } : {}),
    })) as { readonly key: string; readonly value: unknown; readonly restart_required: readonly string[] };
    this.log(`${answer.key}: ${JSON.stringify(answer.value)}`);
    const { restart_required: restart } = answer;
    if (restart.length > 0) this.log(`in force after: svc services restart ${restart.join(' and ')}`);
    return answer;
  }
}
