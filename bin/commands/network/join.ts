import { Args, Flags } from '@oclif/core';
import { hiddenInput } from '../../hidden-input.ts';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkJoinCommand extends NodeCommand {
  static override summary = 'Join a Wi-Fi network. If that fails, the node goes back to what was before.';
  static override description =
    'The passphrase is typed at a prompt that does not show it, or is the first line of stdin.';
  static override examples = [
    '<%= config.bin %> network join HomeNet',
    '<%= config.bin %> network join Cafe --open',
  ];
  static override args = { ssid: Args.string({ description: 'name of the network', required: true }) };
  static override flags = {
    open: Flags.boolean({ summary: 'it has no passphrase', default: false, exclusive: ['saved'] }),
    saved: Flags.boolean({ summary: 'with the saved passphrase', default: false }),
    hidden: Flags.boolean({ summary: 'it does not say its name', default: false }),
    'stop-hotspot': Flags.boolean({ summary: 'end the hotspot if it holds the only card', default: false }),
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(NetworkJoinCommand);
    const asks = !flags.open && !flags.saved;
    const body = {
      ssid: args.ssid,
      hidden: flags.hidden,
      stop_hotspot: flags['stop-hotspot'],
      ...(asks ? { passphrase: await hiddenInput(`Passphrase of ${args.ssid}: `) } : {}),
      ...(flags.force ? { force: true } : {}),
    };
    const path = '/api/v1/network/client/join';
    const answer = (await this.work({ method: 'PUT', path, body })) as {
      readonly ssid: string;
      readonly ip: string | null;
    };
    this.log(`Joined ${answer.ssid}${answer.ip === null ? '.' : `, address ${answer.ip}.`}`);
    return answer;
  }
}
