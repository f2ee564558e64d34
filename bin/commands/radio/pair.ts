import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { radioPairAnswer } from '../../../shared/schemas/radio-pairing.ts';
import { EXIT } from '../../exit-codes.ts';
import { hiddenInput } from '../../hidden-input.ts';
import { NodeCommand } from '../../node-command.ts';

type Paired = FromSchema<typeof radioPairAnswer>;

export default class RadioPairCommand extends NodeCommand {
  static override summary = "Bind a drone's radio to this ground station's.";
  static override description =
    'The drone is reached over LAN, hotspot or USB. Its pairing key is typed at a prompt that does not show it, or the first line of stdin, and not kept. A drone that nobody has paired yet takes its pairing code instead (svc pair on the drone, or its screen), and its new key is printed once. Compare the fingerprint on both ends with: svc radio pairs';
  static override examples = [
    '<%= config.bin %> radio pair 192.168.4.1',
    '<%= config.bin %> radio pair svc-3fa2b1.local --code 7KXM2P',
    '<%= config.bin %> radio pair 192.168.4.1 < key.txt',
  ];
  static override args = {
    host: Args.string({ description: 'the drone, host or host:port', required: true }),
  };
  static override flags = {
    code: Flags.string({ summary: 'the pairing code of a drone that is not paired' }),
    force: Flags.boolean({ summary: 'also while the vehicle is armed, or its state unknown' }),
  };

  async run(): Promise<Paired> {
    const {
      args: { host },
      flags: { code, force },
    } = await this.parse(RadioPairCommand);
    const key = code === undefined ? await hiddenInput(`Pairing key of the drone at ${host}: `) : undefined;
    if (key === '')
      this.error("The drone's pairing key is missing. Nothing was changed.", { exit: EXIT.usage });
    const answer = (await this.api('POST', '/api/wfb/pair', { host, key, code, force })) as Paired;
    this.log(`Bound to ${answer.device_id}. The fingerprint, the same on both ends:`);
    this.log(answer.fingerprint);
    if (answer.drone_key !== undefined) {
      this.log('The drone was claimed. Keep its pairing key; it is not shown again:');
      this.log(answer.drone_key);
    }
    return answer;
  }
}
