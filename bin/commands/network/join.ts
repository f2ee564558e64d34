import { Args } from '@oclif/core';
import { hiddenInput } from '../../hidden-input.ts';
import { forceFlag } from '../../node-command.ts';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('PUT /api/v1/network/client/join', {
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
});
