import { forceFlag } from '../../node-command.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/v1/network/client', {
  summary: 'Leave the Wi-Fi network; it stays saved.',
  examples: ['network leave'],
  flags: forceFlag,
  isLong: true,
  ask: ({ flags: { force } }) => ({ query: { force } }),
  lines: ({ previous_ssid: ssid }) => [ssid === null ? 'No Wi-Fi network was joined.' : `Left ${ssid}.`],
});
