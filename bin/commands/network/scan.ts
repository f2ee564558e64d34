import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/network/client/scan', {
  summary: 'List the Wi-Fi networks that the node hears now.',
  examples: ['network scan'],
  isLong: true,
  *lines({ networks }) {
    for (const { in_use: inUse, ssid, signal, channel, security } of networks)
      yield `${inUse ? '*' : ' '} ${(ssid === '' ? '(hidden)' : ssid).padEnd(32)} ${String(signal ?? '-').padStart(3)} %  channel ${String(channel ?? '-').padEnd(4)} ${security === '' ? 'open' : security}`;
  },
});
