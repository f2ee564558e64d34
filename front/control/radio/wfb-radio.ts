import { Serial } from '../../../shared/async/serial.ts';
import { setConfigKey } from '../../../shared/config/write.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { CardSetting, Iw } from '../../../shared/rpc/machine.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import type { AdaptiveVideo } from './adaptive-video.ts';
import { mbmOf, RadioCards } from './cards.ts';
import { ManagedWfb, type RadioConfig } from './managed-wfb.ts';
import type { Radio } from './radio.ts';
import { RadioLink } from './radio-link.ts';
import { type OtherEnd, type RadioStatus, radioStatus } from './radio-status.ts';
import { type SurveyedChannel, survey } from './survey.ts';

interface WfbRadioDeps {
  readonly profile: Profile;
  readonly config: RadioConfig;
  readonly iw: Iw;
  readonly bound: Pick<BoundRadios, 'list' | 'onChange'>;
  readonly paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig' | 'radioKeys'>;
  readonly helper: Pick<Helper, 'radio_apply' | 'radio_stop' | 'radio_tune' | 'radio_power'>;
  readonly otherEnd: OtherEnd;
  readonly sysDir: string;
  /** How often it looks which cards are there; 1 s unless given. */
  readonly pollMs?: number;
  /** What follows the link, with `radio.adaptive` on a drone. */
  readonly adaptive: AdaptiveVideo | null;
  /** Monotonic and wall clock, ms. */
  readonly monotonic: () => number;
  readonly now: () => number;
  readonly log: Logger;
}

const CARD_POLL_MS = 1000;
const API_PORT = { drone: 8102, 'ground-station': 8103 } as const;
/** Between the JSON APIs of two slots. */
const SLOT_STEP = 10;
/** What iw says of the cards is kept this long. */
const SETTING_MS = 2000;

/** The radio: wfb-ng and its cards. With `radio.mode: off` it has no link, and everything it is asked for is refused. */
export class WfbRadio implements Radio {
  readonly #deps: WfbRadioDeps;
  #config: RadioConfig;
  readonly #cards: RadioCards;
  readonly #managed: ManagedWfb | null;
  readonly #links = new Map<number, RadioLink>();
  readonly #serial = new Serial();
  #surveying = false;
  #forget: (() => void) | null = null;
  #settings: { readonly at: number; readonly of: Promise<ReadonlyMap<string, CardSetting>> } | null = null;

  constructor(deps: WfbRadioDeps) {
    const { profile, bound, helper, log, sysDir } = deps;
    this.#deps = deps;
    this.#config = deps.config;
    this.#cards = new RadioCards(sysDir, deps.config.cards, deps.pollMs ?? CARD_POLL_MS);
    const keysFolder = deps.paths.radioKeys;
    const config = (): RadioConfig => this.#config;
    const managed = {
      profile,
      config,
      apiPort: this.#port(0),
      keysFolder,
      bound,
      cards: this.#cards,
      helper,
      log,
    };
    this.#managed = deps.config.mode === 'managed' ? new ManagedWfb(managed) : null;
  }

  async start(): Promise<void> {
    if (this.#config.mode === 'off') return;
    await this.#cards.start();
    this.#match();
    const linked = new Set(this.linked.map(({ slot }) => slot));
    for (const { device_id: id, slot } of this.bound)
      if (!linked.has(slot))
        this.#deps.log.warn(
          `radio: ${id} is bound in slot ${slot}, which has no link with radio.mode ${this.#config.mode}`,
        );
    this.#forget = this.#deps.bound.onChange(() => this.#match());
    this.#managed?.start();
    this.#deps.adaptive?.start();
  }

  async stop(): Promise<void> {
    this.#forget?.();
    this.#cards.stop();
    this.#deps.adaptive?.stop();
    for (const link of this.#links.values()) link.stop();
    await this.#managed?.stop();
  }

  get profile(): Profile {
    return this.#deps.profile;
  }

  get config(): RadioConfig {
    return this.#config;
  }

  get cards(): RadioCards {
    return this.#cards;
  }

  /** In the order of their slots. */
  get links(): readonly RadioLink[] {
    return [...this.#links.values()].toSorted((a, b) => a.slot - b.slot);
  }

  get bound(): ReturnType<BoundRadios['list']> {
    return this.#deps.bound.list();
  }

  /** Those of the bound radios that have a link: on a ground station where somebody else runs wfb-ng, one. */
  get linked(): ReturnType<BoundRadios['list']> {
    if (this.#deps.profile === 'drone') return this.bound;
    return this.bound.filter(({ slot }) => this.#slots().has(slot));
  }

  /** Why wfb-ng does not run, or not as it should; null if nothing is known. */
  get problem(): ApiError | null {
    return this.#managed?.problem ?? null;
  }

  get otherEnd(): OtherEnd {
    return this.#deps.otherEnd;
  }

  /** As GET /api/wfb. */
  async status(): Promise<RadioStatus> {
    return radioStatus(this, await this.#settingsNow());
  }

  async channel(): Promise<number | null> {
    const card = this.#cards.present[0];
    return card === undefined ? null : (await this.#deps.iw.card_setting({ card: card.name })).channel;
  }

  async tune(channel: number): Promise<{ readonly frequency_mhz: number }> {
    return this.#serial.run(async () => this.#tune(channel));
  }

  async mayUse(channel: number): Promise<void> {
    for (const { name, phy } of this.#someCards()) {
      const rules = phy === null ? [] : await this.#deps.iw.channel_rules({ phy: phy });
      if (rules.length === 0) continue; // the card does not say; it is asked itself
      const rule = rules.find((each) => each.channel === channel);
      const why =
        rule === undefined
          ? `does not know channel ${channel}`
          : rule.max_dbm === null
            ? `may not send on channel ${channel} in this region`
            : rule.radar
              ? `has to look for radar before it sends on channel ${channel} in this region`
              : null;
      if (why !== null) throw new ApiError('E_RADIO_REFUSED', `${name} ${why}.`, { card: name });
    }
  }

  async keepChannel(channel: number): Promise<void> {
    await this.#keep('channel', channel);
  }

  /**
   * Sets the power of all cards.
   * @returns what the first card reports then, and the regulatory limit of its channel, dBm; null where it does not say
   * @throws ApiError E_RADIO_REFUSED with the kernel's reason, E_NOT_IMPLEMENTED
   */
  async setPower(dbm: number): Promise<{ readonly effective: number | null; readonly limit: number | null }> {
    return this.#serial.run(async () => {
      for (const card of this.#someCards())
        await this.#deps.helper
          .radio_power({ card: card.name, mbm: mbmOf(card, dbm) })
          .catch(refused(card.name));
      this.#settings = null;
      const [first] = this.#someCards();
      const setting = first === undefined ? null : await this.#deps.iw.card_setting({ card: first.name });
      const rules = first?.phy == null ? [] : await this.#deps.iw.channel_rules({ phy: first.phy });
      await this.#keep('tx_power_dbm', dbm);
      const limit = rules.find(({ channel }) => channel === setting?.channel)?.max_dbm ?? null;
      return { effective: setting?.tx_power_dbm ?? null, limit };
    });
  }

  /** @throws ApiError E_BUSY while another one runs, E_RADIO_REFUSED if no card is free */
  async survey(): Promise<{ readonly card: string; readonly channels: readonly SurveyedChannel[] }> {
    if (this.#surveying)
      throw new ApiError('E_BUSY', 'A survey is already running. Try again when it has finished.');
    const carrying = new Set(
      this.links.flatMap(({ state, cards }) => (state === 'active' ? (cards ?? []) : [])),
    );
    const unknown = this.links.some(({ state, cards }) => state === 'active' && cards === null);
    const card = unknown ? undefined : this.#someCards().findLast(({ name }) => !carrying.has(name));
    if (card === undefined)
      throw new ApiError(
        'E_RADIO_REFUSED',
        'Every card carries the link, so none is free to scan. Scan before the flight, or add a card.',
      );
    this.#surveying = true;
    try {
      const tune = async (name: string, channel: number): Promise<void> => {
        await this.#deps.helper.radio_tune({ card: name, channel, bandwidth_mhz: 20 });
      };
      const before = (await this.#deps.iw.card_setting({ card: card.name })).channel ?? this.#config.channel;
      try {
        const channels = await survey(card, {
          iw: this.#deps.iw,
          tune,
          received: async (name) => this.#cards.received(name),
        });
        return { card: card.name, channels };
      } finally {
        await this.#tuneCard(card.name, before);
        this.#settings = null;
      }
    } finally {
      this.#surveying = false;
    }
  }

  async #tune(channel: number): Promise<{ readonly frequency_mhz: number }> {
    if (this.#surveying) throw new ApiError('E_BUSY', 'A survey is running. Try again when it has finished.');
    const done: { readonly card: string; readonly before: number | null }[] = [];
    let frequency: number | null = null;
    try {
      for (const { name } of this.#someCards()) {
        const before = (await this.#deps.iw.card_setting({ card: name })).channel;
        await this.#tuneCard(name, channel);
        done.push({ card: name, before });
        const now = await this.#deps.iw.card_setting({ card: name });
        if (now.channel !== channel || now.frequency_mhz === null)
          throw new ApiError(
            'E_RADIO_REFUSED',
            `${name} is on channel ${now.channel ?? 'none'}, not on ${channel}.`,
          );
        frequency ??= now.frequency_mhz;
      }
    } catch (error) {
      const left = await this.#putBack(done);
      if (left.length === 0 || !(error instanceof ApiError)) throw error;
      throw new ApiError(error.code, `${error.message} Still on channel ${channel}: ${left.join(', ')}.`, {
        left,
      });
    } finally {
      this.#settings = null;
    }
    return { frequency_mhz: frequency ?? 0 };
  }

  /** @returns the cards that could not be put back */
  async #putBack(
    done: readonly { readonly card: string; readonly before: number | null }[],
  ): Promise<readonly string[]> {
    const left: string[] = [];
    for (const { card, before } of done) {
      try {
        if (before === null) throw new Error('it was on no channel');
        await this.#tuneCard(card, before);
      } catch (error) {
        this.#deps.log.error(`radio: ${card} was not put back to channel ${before}: ${messageOf(error)}`);
        left.push(card);
      }
    }
    return left;
  }

  async #tuneCard(card: string, channel: number): Promise<void> {
    // As in the configuration of wfb-ng.
    const bandwidth_mhz = this.#config.bandwidth_mhz === 40 ? 40 : 20;
    await this.#deps.helper.radio_tune({ card, channel, bandwidth_mhz }).catch(refused(card));
  }

  /** @throws ApiError */
  #someCards(): RadioCards['present'] {
    if (this.#config.mode === 'off')
      throw new ApiError('E_RADIO_REFUSED', 'This node has no radio (radio.mode is off).');
    const { present, missing } = this.#cards;
    if (present.length === 0)
      throw new ApiError('E_RADIO_REFUSED', 'No radio card found. See radio.cards.', {
        missing,
      });
    return present;
  }

  async #keep(key: 'channel' | 'tx_power_dbm', value: number): Promise<void> {
    await setConfigKey(this.#deps.paths, `radio.${key}`, value);
    this.#config = { ...this.#config, [key]: value };
    await this.#managed?.apply('never');
  }

  async #settingsNow(): Promise<ReadonlyMap<string, CardSetting>> {
    const now = this.#deps.monotonic();
    if (this.#settings === null || now - this.#settings.at > SETTING_MS)
      this.#settings = { at: now, of: this.#readSettings() };
    return this.#settings.of;
  }

  async #readSettings(): Promise<ReadonlyMap<string, CardSetting>> {
    const read = this.#cards.present.map(async ({ name }) =>
      this.#deps.iw.card_setting({ card: name }).then(
        (setting) => [[name, setting] as const],
        () => [], // no iw, or the card has just gone: nothing is known of it
      ),
    );
    return new Map((await Promise.all(read)).flat());
  }

  /** One link for each bound radio, if this node runs wfb-ng; else the one that somebody else runs. */
  #match(): void {
    const { profile, monotonic, now, log, adaptive } = this.#deps;
    const slots = this.#slots();
    for (const [slot, link] of this.#links) {
      if (slots.has(slot)) continue;
      link.stop();
      this.#links.delete(slot);
    }
    for (const slot of slots) {
      if (this.#links.has(slot)) continue;
      const link = new RadioLink({
        slot,
        profile,
        port: this.#port(slot),
        monotonic,
        now,
        log,
        ...(adaptive === null ? {} : { onReport: adaptive.take.bind(adaptive) }),
      });
      this.#links.set(slot, link);
      link.start();
    }
  }

  #slots(): ReadonlySet<number> {
    if (this.#managed === null) return new Set([0]);
    const bound = this.bound.slice(0, this.#deps.profile === 'drone' ? 1 : undefined);
    return new Set(bound.map(({ slot }) => slot));
  }

  #port(slot: number): number {
    const { profile, config } = this.#deps;
    const first = config.api_port === 0 ? API_PORT[profile] : config.api_port;
    return profile === 'drone' ? first : first + SLOT_STEP * slot;
  }
}

function refused(card: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && error.code === 'E_UPSTREAM')
      throw new ApiError('E_RADIO_REFUSED', `${card} refuses: ${error.message}`, { card });
    throw error;
  };
}
