import * as radio from '../schemas/radio.ts';
import {
  radioPairAnswer,
  radioPairRequest,
  radioPairs,
  radioUnpaired,
  radioUnpairQuery,
} from '../schemas/radio-pairing.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'radio', profiles: 'DG' });

export const radioRows = [
  row('wfb.get', 'GET /api/wfb', 'key read ok -', 'link stats and channel', {
    fails: ['E_NOT_IMPLEMENTED'],
    responses: json('the link of the lowest slot; null where nothing was measured', radio.radioStatus),
  }),
  row('wfb.history.get', 'GET /api/wfb/history', 'key read ok -', 'recent link stats', {
    query: radio.historyQuery,
    responses: json('one sample a second, oldest first', radio.history),
  }),
  row(
    'wfb.pair.get',
    'GET /api/wfb/pair',
    'key read ok -',
    'bound radios, only the fingerprint of their key',
    {
      responses: json('the bound radios, without secrets', radioPairs),
    },
  ),
  row('wfb.pair.post', 'POST /api/wfb/pair', 'key none forbid guard link', 'bind the radio pair', {
    limits: LIMITS.slow,
    body: radioPairRequest,
    fails: ['E_PAIRED', 'E_REMOTE', 'E_BUSY', 'E_UPSTREAM', 'E_TIMEOUT', 'E_STORE'],
    responses: json('bound; the link has yet to prove it', radioPairAnswer),
  }),
  row(
    'wfb.pair.delete',
    'DELETE /api/wfb/pair',
    'key destructive forbid guard link',
    'forget the radio pair',
    {
      limits: LIMITS.slow,
      query: radioUnpairQuery,
      fails: ['E_NOT_FOUND', 'E_STORE'],
      responses: json('forgotten', radioUnpaired),
    },
  ),
  row(
    'wfb.channel.post',
    'POST /api/wfb/channel',
    'key admin ok guard link',
    'change the channel of the radio',
    {
      limits: LIMITS.slow,
      body: radio.channelRequest,
      fails: ['E_RADIO_REFUSED', 'E_NOT_IMPLEMENTED', 'E_BUSY', 'E_STORE', 'E_TIMEOUT', 'E_UPSTREAM_DOWN'],
      responses: json('the channel that this node is on now', radio.channelAnswer),
    },
  ),
  row('wfb.tx-power.put', 'PUT /api/wfb/tx-power', 'key admin ok guard link', 'set the transmit power, dBm', {
    limits: LIMITS.slow,
    body: radio.powerRequest,
    fails: ['E_RADIO_REFUSED', 'E_NOT_IMPLEMENTED', 'E_STORE'],
    responses: json('the power that the card then reports', radio.powerAnswer),
  }),
  row('wfb.survey.get', 'GET /api/wfb/survey', 'key read ok -', 'traffic on each channel', {
    limits: { ...LIMITS.read, timeoutMs: 60_000 },
    fails: ['E_RADIO_REFUSED', 'E_NOT_IMPLEMENTED', 'E_BUSY'],
    responses: json('every channel of the card', radio.surveyAnswer),
  }),
] as const satisfies readonly Row[];
