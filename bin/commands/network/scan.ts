import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/network/client/scan', {
  summary: 'List the Wi-Fi networks that the node hears now.',
  examples: ['network scan'],
  isLong: true,
  *lines({ networks }) {
    for (const { in_use: inUse, ssid: name, ssid_hex: hex, signal, channel, security } of networks) {
      const ssid = Buffer.from(name).toString('hex') === hex ? name : hex; // for network join --hex
      yield `${inUse ? '*' : ' '} ${(ssid === '' ? '(hidden)' : ssid).padEnd(32)} ${String(signal ?? '-').padStart(3)} %  channel ${String(channel ?? '-').padEnd(4)} ${security === '' ? 'open' : security}`;
    }
    if (networks.length === 0) yield 'No network is heard.';
  },
});
