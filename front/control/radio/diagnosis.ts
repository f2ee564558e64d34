import { BAD_PERCENT } from '../../../shared/radio/quality.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { radioStatus } from '../../../shared/schemas/radio.ts';
import type { Figures } from './figures.ts';
import type { RadioState } from './link-state.ts';

type Diagnosis = NonNullable<Made<typeof radioStatus>['diagnosis']>;

export interface Evidence {
  readonly drone: boolean;
  readonly state: RadioState;
  readonly cameraSilent: boolean;
  /** Seconds since the other end was heard, null if it never was. */
  readonly silentSeconds: number | null;
  readonly figures: Figures;
  readonly missingCards: readonly string[];
  /** What the config says, and what the first card is on; null if unknown. */
  readonly channel: number;
  readonly tunedTo: number | null;
  /** Why a change of the channel is not over, null if none is open. */
  readonly changeProblem: string | null;
  /** Seconds for which the link has been active without a word of the other end's svc-control; null if none is to be expected. */
  readonly unansweredSeconds: number | null;
}

/** A share of packets beyond which the air is full; a few are dropped at each start of wfb-ng. */
const OVERLOAD_PERCENT = 2;
/** Signal over noise that is enough for every MCS of 20 MHz, dB: whatever is lost then is not lost for weakness. */
const STRONG_DB = 25;
/** The relay asks every 2 s, and takes the other end for lost after 10. */
const UNANSWERED_S = 10;

/** The one thing that is wrong with a link, the most probable cause first; null if nothing is known to be. */
export function diagnose(evidence: Evidence): Diagnosis | null {
  const { state, figures, missingCards, channel, tunedTo, silentSeconds } = evidence;
  const other = evidence.drone ? 'the ground station' : 'the drone';
  if (missingCards.length > 0)
    return {
      kind: 'card_missing',
      sentence: `This machine does not have the radio card ${missingCards.join(', ')}: it was unplugged, has lost its power, or its driver is not loaded. See radio.cards.`,
      figures: { missing: missingCards },
    };
  if (state === 'mis_keyed')
    return {
      kind: 'wrong_key',
      sentence: `Frames arrive and none can be decrypted: the two ends have different keys. Bind this radio to ${other} again.`,
      figures: { decrypt_errors: figures.decrypt_errors, packets_received: figures.packets_received },
    };
  if (evidence.changeProblem !== null)
    return {
      kind: 'channel_change',
      sentence: evidence.changeProblem,
      figures: { channel, tuned_to: tunedTo, rx_silent_seconds: silentSeconds },
    };
  if (state === 'searching') {
    if (tunedTo !== null && tunedTo !== channel)
      return {
        kind: 'wrong_channel',
        sentence: `The card is on channel ${tunedTo}, and the config has ${channel}. Set the channel again: svc radio channel ${channel}.`,
        figures: { channel, tuned_to: tunedTo },
      };
    return {
      kind: 'peer_silent',
      sentence: `Nothing is heard from ${other}: it is off, out of range, or on another channel than ${channel}. If that end shows one_way, it hears this one: then look at its transmitter and at the antennas here.`,
      figures: { packets_all: figures.packets_all, rx_silent_seconds: silentSeconds, channel },
    };
  }
  if ((figures.tx_dropped_percent ?? 0) > OVERLOAD_PERCENT)
    return {
      kind: 'overload',
      sentence:
        'The link is overloaded and drops packets, MAVLink included. Lower the video bitrate, or raise radio.mcs.',
      figures: { tx_dropped_percent: figures.tx_dropped_percent, bitrate_kbps: figures.bitrate_kbps },
    };
  const { loss_percent: loss, loss_before_fec_percent: before, snr_db: snr, rssi_dbm: rssi } = figures;
  if (!evidence.drone && (loss ?? 0) > BAD_PERCENT) {
    const strong = snr === null || snr >= STRONG_DB;
    return {
      kind: strong ? 'overload' : 'weak_signal',
      sentence: `${loss} % of the video is lost, ${
        strong
          ? 'though the signal is strong: the drone sends more than the air takes, or others are on this channel. Lower the bit rate of the video, raise radio.mcs on the drone, or take another channel (svc radio survey).'
          : 'because the signal is weak: distance, antennas, or what is between the two. Lower radio.mcs on the drone, or raise its power.'
      }`,
      figures: { loss_percent: loss, loss_before_fec_percent: before, snr_db: snr, rssi_dbm: rssi },
    };
  }
  const { unansweredSeconds } = evidence;
  if (state === 'active' && unansweredSeconds !== null && unansweredSeconds >= UNANSWERED_S)
    return {
      kind: 'one_way',
      sentence: evidence.drone
        ? 'The ground station is heard, and asks nothing: it does not hear this drone (its state is then searching), or its svc-control does not run. Look at the transmitter here and at the antennas there.'
        : 'The drone is heard, and does not answer: it does not hear this ground station (its state is then searching), or its svc-control does not run. Look at the transmitter here and at the antennas there.',
      figures: { unanswered_seconds: unansweredSeconds, rssi_dbm: rssi, rx_silent_seconds: silentSeconds },
    };
  if (evidence.cameraSilent)
    return {
      kind: 'camera_silent',
      sentence: evidence.drone
        ? 'The link works, but no video is handed over to the radio. See GET /api/video and video.radio.'
        : 'The link works, but the drone sends no video. Look at its camera.',
      figures: { bitrate_kbps: figures.bitrate_kbps, rssi_dbm: figures.rssi_dbm },
    };
  return null;
}
