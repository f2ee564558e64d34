import { ApiError } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { radioRows } from '../../../shared/routes/radio.ts';
import type { ChannelChange } from './channel-change/channel-change.ts';
import type { WfbRadio } from './wfb-radio.ts';

const HISTORY_S = '60';

type RadioHandlers = Pick<
  HandlersOf<typeof radioRows, 'front'>,
  'wfb.get' | 'wfb.history.get' | 'wfb.channel.post' | 'wfb.tx-power.put' | 'wfb.survey.get'
>;

export function radioHandlers(radio: WfbRadio, change: Pick<ChannelChange, 'request'>): RadioHandlers {
  return {
    'wfb.get': async () => {
      const { problem } = radio;
      // Without wfb-ng or svc-helper there is nothing to report of.
      if (problem?.code === 'E_NOT_IMPLEMENTED') throw problem;
      return radio.status();
    },

    'wfb.history.get': ({ query }) => {
      const { seconds = HISTORY_S } = parseQuery(query) ?? {};
      const samples = radio.links[0]?.samples(Number(seconds)) ?? [];
      return { samples, count: samples.length };
    },

    'wfb.channel.post': async ({ body, principal, forced }) => {
      const { channel, phase, id, from, in_ms } = body;
      if (phase === undefined) return change.request({ channel, forced });
      if (principal.kind !== 'relay')
        throw new ApiError('E_BAD_REQUEST', 'Phases are for the two nodes only. Send just the channel.');
      return change.request({
        channel,
        phase,
        ...(id === undefined ? {} : { id }),
        ...(from === undefined ? {} : { from }),
        ...(in_ms === undefined ? {} : { in_ms }),
      });
    },

    'wfb.tx-power.put': async ({ body: { tx_power_dbm: dbm } }) => {
      const { effective, limit } = await radio.setPower(dbm);
      return { requested_dbm: dbm, effective_dbm: effective, tx_power_max_dbm: limit };
    },

    'wfb.survey.get': async () => radio.survey(),
  };
}
