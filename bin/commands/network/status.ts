import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/network', {
  summary: 'Show the interfaces, the uplinks and the hotspot of the node.',
  examples: ['network status', 'network status --json'],
  *lines({ interfaces, uplinks: [uplink], hotspot: { running, ssid, address } }) {
    for (const { name, kind, state, addresses, radio } of interfaces)
      yield `${name.padEnd(16)} ${kind.padEnd(10)} ${(radio === true ? 'radio' : state).padEnd(14)} ${addresses.join(' ')}`;
    yield uplink === undefined ? 'No uplink.' : `Uplink: ${uplink.interface} through ${uplink.gateway}`;
    yield running ? `Hotspot: ${ssid} at ${address ?? '-'}` : 'The hotspot is off.';
  },
});
