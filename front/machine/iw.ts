import { runProgram } from '../../shared/process/run-program.ts';
import type { CardSetting, ChannelRule } from '../../shared/rpc/machine.ts';

/** What `iw` says of cards, which needs no root. Written for iw 5.19; its text has had this form since 3.x. */

const IW_MS = 3000;

/** @throws ApiError E_NOT_IMPLEMENTED without iw, E_UPSTREAM in its words, E_TIMEOUT */
export async function cardSetting(card: string): Promise<CardSetting> {
  const text = await runProgram('iw', ['dev', card, 'info'], IW_MS);
  const tuned = /^\s*channel (\d+) \((\d+)(?:\.\d+)? MHz\)(?:, width: (\d+) MHz)?/m.exec(text);
  const power = /^\s*txpower (-?[\d.]+) dBm/m.exec(text)?.[1];
  return {
    channel: numberOf(tuned?.[1]),
    frequency_mhz: numberOf(tuned?.[2]),
    bandwidth_mhz: numberOf(tuned?.[3]),
    tx_power_dbm: numberOf(power),
  };
}

/** @param phy as in /sys/class/net/<card>/phy80211/name. @throws as `cardSetting` */
export async function channelRules(phy: string): Promise<readonly ChannelRule[]> {
  const text = await runProgram('iw', ['phy', phy, 'info'], IW_MS);
  const lines = text.matchAll(/^\s*\* (\d+)(?:\.\d+)? MHz \[(\d+)\] (.*)$/gm);
  return [...lines].map(([, frequency, channel, rest = '']) => {
    const disabled = rest.includes('disabled');
    return {
      channel: Number(channel),
      frequency_mhz: Number(frequency),
      allowed: !disabled && !/no IR|radar/i.test(rest),
      radar: /radar/i.test(rest),
      max_dbm: disabled ? null : numberOf(/\((-?[\d.]+) dBm\)/.exec(rest)?.[1]),
    };
  });
}

/** The noise of the channel that a card is on; null where its driver does not measure it. */
export async function noiseOf(card: string): Promise<number | null> {
  const text = await runProgram('iw', ['dev', card, 'survey', 'dump'], IW_MS).catch(() => ''); // not every driver can
  const inUse = text.split(/^Survey data/m).find((part) => part.includes('[in use]')) ?? '';
  return numberOf(/noise:\s*(-?\d+) dBm/.exec(inUse)?.[1]);
}

/** How many are connected to the access point of a card, which any user may ask. @throws as `cardSetting` */
export async function stationsOf(card: string): Promise<number> {
  const text = await runProgram('iw', ['dev', card, 'station', 'dump'], IW_MS);
  return text.match(/^Station /gm)?.length ?? 0;
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
