import { Args, Flags } from '@oclif/core';
import { forceFlag } from '../../node-command.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('PUT /api/v1/network/ethernet', {
  summary: 'Give a wired interface a fixed address; with none, what its network gives.',
  examples: ['network ethernet eth0 --address 192.168.1.20/24 --gateway 192.168.1.1'],
  args: { interface: Args.string({ description: 'as in network status', required: true }) },
  flags: {
    address: Flags.string({ summary: 'IPv4 address with the length of its prefix' }),
    gateway: Flags.string({ summary: 'IPv4 address', dependsOn: ['address'] }),
    dns: Flags.string({ summary: 'IPv4 address of a name server', multiple: true }),
    ...forceFlag,
  },
  isLong: true,
  ask: ({ args: { interface: name }, flags: { address, gateway, dns, force } }) => ({
    body: {
      interface: name,
      mode: address === undefined ? 'dhcp' : 'static',
      address,
      gateway,
      dns,
      force,
    },
  }),
  lines: ({ addresses }, { args: { interface: name } }) => [`${name}: ${addresses.join(' ')}`],
});
