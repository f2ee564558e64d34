import { Args, Flags } from '@oclif/core';
import { hiddenInput } from '../../hidden-input.ts';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkHotspotCommand extends NodeCommand {
  static override summary = 'Switch the hotspot of the node on or off.';
  static override description =
    'With --passphrase a new one is typed at a prompt that does not show it, or is the first line of stdin.';
  static override examples = ['<%= config.bin %> network hotspot on --passphrase'];
  static override args = { state: Args.string({ options: ['on', 'off'], required: true }) };
  static override flags = {
    ssid: Flags.string({ summary: 'its name' }),
    channel: Flags.integer({ summary: 'Wi-Fi channel', min: 1, max: 196 }),
    passphrase: Flags.boolean({ summary: 'ask for a new passphrase', default: false }),
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(NetworkHotspotCommand);
    const body = {
      enabled: args.state === 'on',
      ...(flags.ssid === undefined ? {} : { ssid: flags.ssid }),
      ...(flags.channel === undefined ? {} : { channel: flags.channel }),
      ...(flags.passphrase ? { passphrase: await hiddenInput('New passphrase: ') } : {}),
      ...(flags.force ? { force: true } : {}),
    };
    const answer = (await this.work({ method: 'PUT', path: '/api/v1/network/hotspot', body })) as {
      readonly running: boolean;
      readonly ssid: string;
    };
    this.log(answer.running ? `The hotspot ${answer.ssid} is on.` : 'The hotspot is off.');
    return answer;
  }
}
