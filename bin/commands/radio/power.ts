import { Args } from '@oclif/core';
import { forceFlag } from '../../node-command.ts';
import { requestCommand, usageError } from '../../request-command.ts';

export default requestCommand('PUT /api/wfb/tx-power', {
  summary: 'Set the transmit power of the radio.',
  examples: ['radio power 15'],
  args: { dbm: Args.string({ description: '1 to 30 dBm', required: true }) },
  flags: forceFlag,
  ask: ({ args, flags: { force } }) => {
    const dbm = Number(args.dbm);
    if (!Number.isInteger(dbm)) throw usageError(`${args.dbm} is not a whole number of dBm`);
    return { body: { tx_power_dbm: dbm, force } };
  },
  *lines({ effective_dbm: effective, tx_power_max_dbm: limit }, { args: { dbm } }) {
    yield `The card reports ${effective === null ? 'no power' : `${effective} dBm`}.`;
    if (limit !== null && Number(dbm) > limit) yield `The region allows ${limit} dBm on this channel.`;
  },
});
