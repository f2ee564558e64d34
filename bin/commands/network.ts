import { Args, Flags } from '@oclif/core';
import { EXIT } from '../cli/exit-codes.ts';
import { forceFlag, NodeCommand } from '../cli/node-command.ts';
import { requestCommand, switchFlag } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import { hiddenInput } from '../terminal/hidden-input.ts';
import NetworkModemCommand from './network/modem.ts';

class NetworkMacCommand extends NodeCommand {
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
      const rows = answer.adapters.map(({ name, mac, state, pinned_mac: pinned }) => [
        name,
        mac,
        state,
        pinned,
      ]);
      for (const line of tableOf(['INTERFACE', 'MAC', 'STATE', 'PINNED'], rows)) this.log(line);
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

export default {
  'network:status': requestCommand('GET /api/v1/network', {
    summary: 'Show the interfaces, the uplinks and the hotspot of the node.',
    examples: ['network status', 'network status --json'],
    *lines({ interfaces, uplinks, hotspot: { running, ssid, address } }) {
      yield* tableOf(
        ['INTERFACE', 'KIND', 'STATE', 'ADDRESSES'],
        interfaces.map(({ name, kind, state, addresses, radio }) => [
          name,
          kind,
          radio === true ? 'radio' : state,
          addresses.join(' '),
        ]),
      );
      if (uplinks.length === 0) yield 'No uplink.';
      for (const { interface: name, gateway, in_use: used, reachable, latency_ms: ms, metered } of uplinks) {
        const words = [
          reachable === false ? 'nothing answers' : null,
          reachable === true && ms !== null ? `${ms} ms` : null,
          metered ? 'metered' : null,
        ].filter((word) => word !== null);
        yield `${used ? 'Uplink:' : '  also:'} ${name} through ${gateway}${words.length === 0 ? '' : ` (${words.join(', ')})`}`;
      }
      yield running ? `Hotspot: ${ssid} at ${address ?? '-'}` : 'The hotspot is off.';
    },
  }),
  'network:scan': requestCommand('GET /api/v1/network/client/scan', {
    summary: 'List the Wi-Fi networks that the node hears now.',
    examples: ['network scan'],
    isLong: true,
    *lines({ networks }) {
      yield* tableOf(
        ['NETWORK', 'SIGNAL (%)', 'CHANNEL', 'SECURITY', ''],
        networks.map(({ in_use: inUse, ssid: name, ssid_hex: hex, signal, channel, security }) => {
          const ssid = Buffer.from(name).toString('hex') === hex ? name : hex; // for network join --hex
          const used = inUse ? 'in use' : '';
          return [
            ssid === '' ? '(hidden)' : ssid,
            signal,
            channel,
            security === '' ? 'open' : security,
            used,
          ];
        }),
      );
      if (networks.length === 0) yield 'No network is heard.';
    },
  }),
  'network:join': requestCommand('PUT /api/v1/network/client/join', {
    summary: 'Join a Wi-Fi network. If that fails, the node goes back to what was before.',
    description: 'The passphrase is typed at a prompt that does not show it, or is the first line of stdin.',
    examples: ['network join HomeNet', 'network join Cafe --open'],
    args: { ssid: Args.string({ description: 'name of the network', required: true }) },
    flags: {
      open: switchFlag('it has no passphrase', { exclusive: ['saved'] }),
      saved: switchFlag('with the saved passphrase'),
      hex: switchFlag('the name is in hexadecimal, as `network scan` shows one that is not UTF-8'),
      hidden: switchFlag('it does not broadcast its name'),
      'stop-hotspot': switchFlag('end the hotspot if it holds the only card'),
      ...forceFlag,
    },
    isLong: true,
    ask: async ({ args: { ssid }, flags: { open, saved, hex, hidden, 'stop-hotspot': stop, force } }) => {
      const passphrase = open || saved ? undefined : await hiddenInput(`Passphrase of ${ssid}: `);
      return {
        body: {
          ...(hex ? { ssid_hex: ssid.toLowerCase() } : { ssid }),
          hidden,
          stop_hotspot: stop,
          passphrase,
          force,
        },
      };
    },
    lines: ({ ssid, ip }) => [`Joined ${ssid}${ip === null ? '.' : `, address ${ip}.`}`],
  }),
  'network:leave': requestCommand('DELETE /api/v1/network/client', {
    summary: 'Leave the Wi-Fi network; it stays saved.',
    examples: ['network leave'],
    flags: forceFlag,
    isLong: true,
    ask: ({ flags: { force } }) => ({ query: { force } }),
    lines: ({ previous_ssid: ssid }) => [ssid === null ? 'No Wi-Fi network was joined.' : `Left ${ssid}.`],
  }),
  'network:forget': requestCommand('DELETE /api/v1/network/client/configured/{name}', {
    summary: 'Forget a saved Wi-Fi network and its passphrase.',
    examples: ['network forget HomeNet'],
    args: { name: Args.string({ description: 'its saved name', required: true }) },
    isLong: true,
    ask: ({ args: { name } }) => ({ params: { name } }),
    lines: (_, { args: { name } }) => [`${name} is forgotten.`],
  }),
  'network:hotspot': requestCommand('PUT /api/v1/network/hotspot', {
    summary: 'Switch the hotspot of the node on or off.',
    description:
      'With --passphrase a new one is typed at a prompt that does not show it, or is the first line of stdin.',
    examples: ['network hotspot on --passphrase'],
    args: { state: Args.string({ options: ['on', 'off'], required: true }) },
    flags: {
      ssid: Flags.string({ summary: 'its name' }),
      channel: Flags.integer({ summary: 'Wi-Fi channel', min: 1, max: 196 }),
      passphrase: switchFlag('ask for a new passphrase'),
      ...forceFlag,
    },
    isLong: true,
    ask: async ({ args: { state }, flags: { ssid, channel, passphrase: asks, force } }) => {
      const passphrase = asks ? await hiddenInput('New passphrase: ') : undefined;
      return { body: { enabled: state === 'on', ssid, channel, passphrase, force } };
    },
    lines: ({ running, ssid }) => [running ? `The hotspot ${ssid} is on.` : 'The hotspot is off.'],
  }),
  'network:ethernet': requestCommand('PUT /api/v1/network/ethernet', {
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
  }),
  'network:modem': NetworkModemCommand,
  'network:mac': NetworkMacCommand,
};
