import type { Profile } from '../../../shared/profile.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { CardSetting } from '../../../shared/rpc/machine.ts';
import { channelOf } from '../../../shared/wifi-channel.ts';
import type { BoundRadio } from '../relay/bound-radios.ts';
import type { RadioCards } from './cards.ts';
import { diagnose } from './diagnosis.ts';
import { NO_FIGURES } from './figures.ts';
import type { RadioConfig } from './managed-wfb.ts';
import type { RadioLink } from './radio-link.ts';

/** What the answer is made of. */
interface RadioView {
  readonly config: RadioConfig;
  readonly profile: Profile;
  readonly cards: RadioCards;
  readonly bound: readonly BoundRadio[];
  /** In the order of their slots. */
  readonly links: readonly RadioLink[];
  readonly problem: Error | null;
  readonly otherEnd: OtherEnd;
}

/** The other end's svc-control, not its wfb-ng. */
export interface OtherEnd {
  /** Since its last word through the relay, ms; null if there was none. */
  silentMs(deviceId: string): number | null;
  /** Why a change of the channel is not over; null if none is open. */
  changeProblem(): string | null;
}

/** The answer of GET /api/wfb. */
export type RadioStatus = MadeAnswer<'wfb.get'>;

export function radioStatus(radio: RadioView, settings: ReadonlyMap<string, CardSetting>): RadioStatus {
  const { config, profile, cards, bound } = radio;
  const { links } = radio;
  const link = links[0] ?? null;
  const state = link?.state ?? 'absent';
  const figures = link?.figures ?? NO_FIGURES;
  const first = cards.present[0];
  const setting = first === undefined ? undefined : settings.get(first.name);
  return {
    state,
    quality: link?.quality ?? 'none',
    mode: config.mode,
    profile,
    interface: first?.name ?? null,
    channel: setting?.channel ?? (figures.frequency_mhz === null ? null : channelOf(figures.frequency_mhz)),
    configured_channel: config.channel,
    region: config.region,
    ...figures,
    frequency_mhz: setting?.frequency_mhz ?? figures.frequency_mhz,
    bandwidth_mhz: setting?.bandwidth_mhz ?? figures.bandwidth_mhz,
    tx_power_dbm: setting?.tx_power_dbm ?? null,
    rx_silent_seconds: link?.silentSeconds ?? null,
    camera_silent: link?.cameraSilent ?? false,
    cards: cards.present.map((card) => cardStatus(card, settings.get(card.name), link)),
    missing_cards: cards.missing,
    diagnosis:
      link === null
        ? null
        : diagnose({
            drone: profile === 'drone',
            state,
            cameraSilent: link.cameraSilent,
            silentSeconds: link.silentSeconds,
            figures,
            missingCards: cards.missing,
            channel: config.channel,
            tunedTo: setting?.channel ?? null,
            changeProblem: radio.otherEnd.changeProblem(),
            unansweredSeconds: unanswered(radio, link),
          }),
    problem: problemOf(radio, link),
    unread_lines: link?.garbage ?? 0,
    links: links.map(({ slot, state: its, quality, figures: of }) => {
      const peer = bound.find((each) => each.slot === slot);
      return {
        slot,
        device_id: peer?.device_id ?? null,
        name: peer?.name ?? null,
        state: its,
        quality,
        rssi_dbm: of.rssi_dbm,
        loss_before_fec_percent: of.loss_before_fec_percent,
        bitrate_kbps: of.bitrate_kbps,
      };
    }),
  };
}

function cardStatus(
  { name, driver }: { readonly name: string; readonly driver: string },
  setting: CardSetting | undefined,
  link: RadioLink | null,
) {
  const index = link?.cards?.indexOf(name) ?? -1;
  const antennas = (link?.figures.antennas ?? []).filter(({ card, host }) => card === index && host === null);
  return {
    name,
    driver,
    channel: setting?.channel ?? null,
    frequency_mhz: setting?.frequency_mhz ?? null,
    tx_power_dbm: setting?.tx_power_dbm ?? null,
    sends: index >= 0 && link?.figures.tx_card === index,
    packets: antennas.length === 0 ? null : Math.max(...antennas.map(({ packets }) => packets)),
    rssi_dbm: antennas.length === 0 ? null : Math.max(...antennas.map(({ rssi_dbm }) => rssi_dbm)),
  };
}

/** Null where no radio is bound, so that nobody could say anything. */
function unanswered({ profile, bound, otherEnd }: RadioView, link: RadioLink): number | null {
  const peer = profile === 'drone' ? bound[0] : bound.find(({ slot }) => slot === link.slot);
  if (peer === undefined || link.activeSeconds === null) return null;
  return Math.round(Math.min(link.activeSeconds, (otherEnd.silentMs(peer.device_id) ?? Infinity) / 1000));
}

function problemOf({ problem }: RadioView, link: RadioLink | null): string | null {
  if (problem !== null) return problem.message;
  return link?.state === 'down'
    ? `The JSON API of wfb-ng does not answer (${link.connectionProblem ?? 'unknown'}). Is wfb-ng running?`
    : null;
}
