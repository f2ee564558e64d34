import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/network', {
  summary: 'Show the interfaces, the uplinks and the hotspot of the node.',
  examples: ['network status', 'network status --json'],
  *lines({ interfaces, uplinks, hotspot: { running, ssid, address } }) {
    for (const { name, kind, state, addresses, radio } of interfaces)
      yield `${name.padEnd(16)} ${kind.padEnd(10)} ${(radio === true ? 'radio' : state).padEnd(14)} ${addresses.join(' ')}`;
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
});
