import type { Made } from '../../../../shared/schemas/made.ts';
import type { channelAnswer } from '../../../../shared/schemas/radio.ts';
/** What both ends of a change of the channel say to each other: bodies and answers of POST /api/wfb/channel. */

/**
 * `prepare`: try your card, and be ready. `commit`: switch in `in_ms`. `confirm`: I am on this channel, are you? `done`: this is the
 * channel, it is over.
 */
export type Phase = 'prepare' | 'commit' | 'confirm' | 'done';

export interface ChannelRequest {
  readonly channel: number;
  readonly phase?: Phase;
  readonly id?: string;
  /** With `prepare`: the channel that the ground station is on. */
  readonly from?: number;
  readonly in_ms?: number;
  /** The armed guard of the ground station was overridden; the drone's is then, too. */
  readonly forced?: boolean;
}

export type ChannelAnswer = Made<typeof channelAnswer>;

/** From the commit to the switch: long enough that its answer is back before the channel is gone. */
export const IN_MS = 600;
