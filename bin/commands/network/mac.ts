import { Args, Flags } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class NetworkMacCommand extends NodeCommand {
  static override summary = 'Show MAC addresses, pin one, or clear a pin; in force at the next boot.';
  static override examples = ['<%= config.bin %> network mac', '<%= config.bin %> network mac pin wlan1'];
  static override args = {
    action: Args.string({ options: ['status', 'pin', 'unpin'], default: 'status' }),
    interface: Args.string({ description: 'as in network status' }),
  };
  static override flags = { mac: Flags.string({ summary: 'pin this one instead of the present one' }) };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(NetworkMacCommand);
    if (args.action === 'status') {
      const answer = await this.call('GET /api/v1/network/mac/adapters');
      for (const { name, mac, state, pinned_mac: pinned } of answer.adapters)
        this.log(`${name.padEnd(16)} ${mac} ${state.padEnd(10)} ${pinned ?? ''}`);
      if (answer.adapters.length === 0) this.log('This machine has no network adapter of its own.');
      return answer;
    }
    const iface = args.interface;
    if (iface === undefined) this.error('Name the interface.', { exit: EXIT.usage });
    if (args.action === 'unpin') {
      const answer = await this.call('DELETE /api/v1/network/mac/{iface}', { params: { iface } });
      this.log(`${iface} has no pin.`);
      return answer;
    }
    const answer = await this.call('POST /api/v1/network/mac/pin', { body: { iface, mac: flags.mac } });
    this.log(`${iface} has ${answer.mac} from the next start of the machine.`);
    return answer;
  }
}
