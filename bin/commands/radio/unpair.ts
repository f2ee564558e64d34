import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { radioUnpaired } from '../../../shared/schemas/radio-pairing.ts';
import { NodeCommand } from '../../node-command.ts';

export default class RadioUnpairCommand extends NodeCommand {
  static override summary = 'Forget a bound radio; its key and the relay end at once.';
  static override description =
    'On a drone this cuts off a lost ground station; on a ground station it ends the way to a drone.';
  static override examples = ['<%= config.bin %> radio unpair 3fa2b1c4d5e6'];
  static override args = {
    device: Args.string({ description: 'the other end, see radio pairs', required: true }),
  };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed, or its state unknown' }),
  };

  async run(): Promise<FromSchema<typeof radioUnpaired>> {
    const { args, flags } = await this.parse(RadioUnpairCommand);
    const force = flags.force ? '&force=1' : '';
    const path = `/api/wfb/pair?device_id=${encodeURIComponent(args.device)}${force}`;
    const answer = (await this.api('DELETE', path)) as FromSchema<typeof radioUnpaired>;
    this.log(`${answer.device_id} is no longer bound.`);
    return answer;
  }
}
