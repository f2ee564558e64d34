import { Flags } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkLeaveCommand extends NodeCommand {
  static override summary = 'Leave the Wi-Fi network; it stays saved.';
  static override examples = ['<%= config.bin %> network leave'];
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(NetworkLeaveCommand);
    const path = `/api/v1/network/client${flags.force ? '?force=1' : ''}`;
    const answer = (await this.work({ method: 'DELETE', path })) as { readonly previous_ssid: string | null };
    this.log(
      answer.previous_ssid === null ? 'No Wi-Fi network was joined.' : `Left ${answer.previous_ssid}.`,
    );
    return answer;
  }
}
