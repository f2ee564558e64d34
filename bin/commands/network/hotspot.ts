import { Args, Flags } from '@oclif/core';
import { hiddenInput } from '../../hidden-input.ts';
import { forceFlag } from '../../node-command.ts';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('PUT /api/v1/network/hotspot', {
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
});
