import { setTimeout as delay } from 'node:timers/promises';
import type { Iw } from '../../../shared/rpc/machine.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { surveyAnswer } from '../../../shared/schemas/radio.ts';
import type { Card } from './cards.ts';

export type SurveyedChannel = Made<typeof surveyAnswer>['channels'][number];

interface SurveyMeans {
  readonly iw: Iw;
  tune(card: string, channel: number): Promise<void>;
  /** Frames received since the card is there. */
  received(card: string): Promise<number | null>;
}

/** How long the card stays on each channel: ten beacons of an access point come in a second. */
const DWELL_MS = 250;
/** 5 GHz has 28 channels of 20 MHz; where a driver lists more, the rest of them are not visited. */
const MAX_CHANNELS = 48;

/** Puts a card that carries no link on each channel of its region, and counts what it hears. The caller puts it back. */
export async function survey(card: Card, means: SurveyMeans): Promise<readonly SurveyedChannel[]> {
  const rules = card.phy === null ? [] : await means.iw.channel_rules({ phy: card.phy });
  const seen: Omit<SurveyedChannel, 'best'>[] = [];
  for (const { channel, frequency_mhz, allowed, max_dbm } of rules.slice(0, MAX_CHANNELS)) {
    const heard = max_dbm === null ? null : await listen(card.name, channel, means);
    seen.push({
      channel,
      frequency_mhz,
      allowed,
      frames: heard?.frames ?? null,
      noise_dbm: heard?.noise ?? null,
    });
  }
  const usable = seen.filter(({ allowed, frames }) => allowed && frames !== null);
  const best = usable.reduce<(typeof seen)[number] | null>(
    (top, each) => (top === null || (each.frames ?? 0) < (top.frames ?? 0) ? each : top),
    null,
  );
  return seen.map((each) => ({ ...each, best: each === best }));
}

async function listen(
  card: string,
  channel: number,
  means: SurveyMeans,
): Promise<{ readonly frames: number | null; readonly noise: number | null } | null> {
  try {
    await means.tune(card, channel);
  } catch {
    return null; // the driver refuses this one, and its place in the answer says so
  }
  const before = await means.received(card);
  await delay(DWELL_MS);
  const after = await means.received(card);
  return {
    frames: before === null || after === null ? null : after - before,
    noise: await means.iw.noise({ card }),
  };
}
