import type { FromSchema } from 'json-schema-to-ts';
import type { networkState } from '../../../shared/schemas/network.ts';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkStatusCommand extends NodeCommand {
  static override summary = 'Show the interfaces, the uplinks and the hotspot of the node.';
  static override examples = ['<%= config.bin %> network status', '<%= config.bin %> network status --json'];

  async run(): Promise<unknown> {
    await this.parse(NetworkStatusCommand);
    const state = (await this.api('GET', '/api/v1/network')) as FromSchema<typeof networkState>;
    for (const { name, kind, state: word, addresses, radio } of state.interfaces)
      this.log(
        `${name.padEnd(16)} ${kind.padEnd(10)} ${(radio === true ? 'radio' : word).padEnd(14)} ${addresses.join(' ')}`,
      );
    const [uplink] = state.uplinks;
    this.log(uplink === undefined ? 'No uplink.' : `Uplink: ${uplink.interface} through ${uplink.gateway}`);
    const { running, ssid, address } = state.hotspot;
    this.log(running ? `Hotspot: ${ssid} at ${address ?? '-'}` : 'The hotspot is off.');
    return state;
  }
}
