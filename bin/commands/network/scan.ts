import type { FromSchema } from 'json-schema-to-ts';
import type { scan } from '../../../shared/schemas/network.ts';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkScanCommand extends NodeCommand {
  static override summary = 'List the Wi-Fi networks that the node hears now.';
  static override examples = ['<%= config.bin %> network scan'];

  async run(): Promise<unknown> {
    await this.parse(NetworkScanCommand);
    const path = '/api/v1/network/client/scan';
    const answer = (await this.work({ method: 'GET', path })) as FromSchema<typeof scan>;
    for (const { in_use: inUse, ssid, signal, channel, security } of answer.networks)
      this.log(
        `${inUse ? '*' : ' '} ${(ssid === '' ? '(hidden)' : ssid).padEnd(32)} ${String(signal ?? '-').padStart(3)} %  channel ${String(channel ?? '-').padEnd(4)} ${security === '' ? 'open' : security}`,
      );
    return answer;
  }
}
