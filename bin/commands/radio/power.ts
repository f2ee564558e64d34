import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { powerAnswer } from '../../../shared/schemas/radio.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

export default class RadioPowerCommand extends NodeCommand {
  static override summary = 'Set the transmit power of the radio.';
  static override examples = ['<%= config.bin %> radio power 15'];
  static override args = { dbm: Args.string({ description: '1 to 30 dBm', required: true }) };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(RadioPowerCommand);
    const dbm = Number(args.dbm);
    if (!Number.isInteger(dbm)) this.error(`${args.dbm} is not a whole number of dBm`, { exit: EXIT.usage });
    const body = flags.force ? { tx_power_dbm: dbm, force: true } : { tx_power_dbm: dbm };
    const answer = (await this.api('PUT', '/api/wfb/tx-power', body)) as FromSchema<typeof powerAnswer>;
    const { effective_dbm: effective, tx_power_max_dbm: limit } = answer;
    this.log(`The card reports ${effective ?? 'no power'}${effective === null ? '' : ' dBm'}.`);
    if (limit !== null && dbm > limit) this.log(`The region allows ${limit} dBm on this channel.`);
    return answer;
  }
}
