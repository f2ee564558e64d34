import { Args, Flags } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkEthernetCommand extends NodeCommand {
  static override summary = 'Give a wired interface a fixed address; with none, what its network gives.';
  static override examples = [
    '<%= config.bin %> network ethernet eth0 --address 192.168.1.20/24 --gateway 192.168.1.1',
  ];
  static override args = { interface: Args.string({ description: 'as in network status', required: true }) };
  static override flags = {
    address: Flags.string({ summary: 'IPv4 address with the length of its prefix' }),
    gateway: Flags.string({ summary: 'IPv4 address', dependsOn: ['address'] }),
    dns: Flags.string({ summary: 'IPv4 address of a name server', multiple: true }),
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(NetworkEthernetCommand);
    const body = {
      interface: args.interface,
      mode: flags.address === undefined ? 'dhcp' : 'static',
      ...(flags.address === undefined ? {} : { address: flags.address }),
      ...(flags.gateway === undefined ? {} : { gateway: flags.gateway }),
      ...(flags.dns === undefined ? {} : { dns: flags.dns }),
      ...(flags.force ? { force: true } : {}),
    };
    const answer = (await this.work({ method: 'PUT', path: '/api/v1/network/ethernet', body })) as {
      readonly addresses: readonly string[];
    };
    this.log(`${args.interface}: ${answer.addresses.join(' ')}`);
    return answer;
  }
}
