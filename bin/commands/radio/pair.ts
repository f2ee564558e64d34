import { Args, Flags } from '@oclif/core';
import { hiddenInput } from '../../hidden-input.ts';
import { requestCommand, switchFlag, usageError } from '../../request-command.ts';

export default requestCommand('POST /api/wfb/pair', {
  summary: "Bind a drone's radio to this ground station's.",
  description:
    'The drone is reached over LAN, hotspot or USB. Its pairing key is typed at a prompt that does not show it, or the first line of stdin, and not kept. A drone that nobody has paired yet takes its pairing code instead (svc pair on the drone, or its screen), and its new key is printed once. Compare the fingerprint on both ends with: svc radio pairs',
  examples: [
    'radio pair 192.168.4.1',
    'radio pair svc-3fa2b1.local --code 7KXM2P',
    'radio pair 192.168.4.1 < key.txt',
  ],
  args: { host: Args.string({ description: 'the drone, host or host:port', required: true }) },
  flags: {
    code: Flags.string({ summary: 'the pairing code of a drone that is not paired' }),
    force: switchFlag('also while the vehicle is armed, or its state unknown'),
  },
  ask: async ({ args: { host }, flags: { code, force } }) => {
    const key = code === undefined ? await hiddenInput(`Pairing key of the drone at ${host}: `) : undefined;
    if (key === '') throw usageError("The drone's pairing key is missing. Nothing was changed.");
    return { body: { host, key, code, force } };
  },
  *lines({ device_id: id, fingerprint, drone_key: key }) {
    yield `Bound to ${id}. The fingerprint, the same on both ends:`;
    yield fingerprint;
    if (key === undefined) return;
    yield 'The drone was claimed. Keep its pairing key; it is not shown again:';
    yield key;
  },
});
