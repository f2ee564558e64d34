import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import { Serial } from '../../../shared/async/serial.ts';
import type { Config } from '../../../shared/config/schema.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { distrust } from '../../../shared/files/private-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { ParamsOf } from '../../../shared/rpc/contract.ts';
import type { HELPER } from '../../../shared/rpc/helper.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import { MAX_SLOTS } from '../../../shared/schemas/radio-unit.ts';
import type { BoundRadio, BoundRadios } from '../relay/bound-radios.ts';
import { mbmOf, type RadioCards } from './cards.ts';

type Apply = ParamsOf<typeof HELPER, 'radio_apply'>;
export type Restart = Apply['restart'];
export type RadioConfig = Config['radio'];

interface ManagedDeps {
  readonly profile: Profile;
  /** As it is now: channel and power change at run time. */
  readonly config: () => RadioConfig;
  readonly apiPort: number;
  readonly keysFolder: string;
  readonly bound: Pick<BoundRadios, 'list' | 'onChange'>;
  readonly cards: RadioCards;
  readonly helper: Pick<Helper, 'radio_apply' | 'radio_stop'>;
  readonly log: Logger;
}

const RETRY_MS = 5000;
const KEY_BYTES = 64;

/**
 * Has svc-helper run wfb-ng with the cards and keys that there are, and again whenever one of them comes or goes: wfb-ng ends as a
 * whole with one card, and does not start while one is missing.
 */
export class ManagedWfb {
  readonly #deps: ManagedDeps;
  readonly #serial = new Serial();
  #timer: NodeJS.Timeout | null = null;
  #forget: (() => void) | null = null;
  #stopped = false;
  /** Whether what runs may not be what should. */
  #due = true;
  #problem: ApiError | null = null;

  constructor(deps: ManagedDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { cards, bound } = this.#deps;
    cards.onChange(() => this.#again());
    this.#forget = bound.onChange(() => this.#again());
    this.#timer = every(RETRY_MS, 'wfb-ng', () => {
      if (this.#due) this.#again();
    });
    this.#again();
  }

  /** wfb-ng runs on: a restart of the node does not interrupt the radio. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forget?.();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#serial.idle();
  }

  /** Why wfb-ng does not run, or not as it should; null if nothing is known. */
  get problem(): ApiError | null {
    return this.#problem;
  }

  /** @throws ApiError E_NOT_IMPLEMENTED (extra `missing`), E_BUSY, E_UPSTREAM, E_STORE */
  async apply(restart: Restart): Promise<void> {
    await this.#serial.run(async () => this.#apply(restart));
  }

  #again(): void {
    this.#due = true;
    if (this.#stopped || this.#serial.size > 1) return; // one that waits will see it all
    this.apply('changed').catch(() => undefined); // kept in `problem`, logged, and tried again
  }

  async #apply(restart: Restart): Promise<void> {
    const { cards, bound, helper, log, profile } = this.#deps;
    this.#due = false;
    try {
      // A drone has one link.
      const radios = bound.list().slice(0, profile === 'drone' ? 1 : MAX_SLOTS);
      if (radios.length === 0 || cards.present.length === 0) {
        if (restart !== 'never') await helper.radio_stop({});
        this.#note(radios.length === 0 ? notBound() : noCard(cards.missing));
        return;
      }
      const params = await this.#params(radios, restart);
      await helper.radio_apply(params);
      this.#note(null);
      const names = params.cards.map(({ name }) => name);
      log.info(`radio: wfb-ng has ${names.join(', ')} for ${radios.length} link(s)`, {
        cards: names,
        restart,
      });
    } catch (error) {
      // What is not installed will not be there in five seconds either.
      this.#due = !(error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED');
      this.#note(error instanceof ApiError ? error : new ApiError('E_STORE', messageOf(error)));
      throw error;
    }
  }

  #note(problem: ApiError | null): void {
    if (problem !== null && problem.message !== this.#problem?.message)
      this.#deps.log.warn(`radio: ${problem.message}`);
    this.#problem = problem;
  }

  async #params(radios: readonly BoundRadio[], restart: Restart): Promise<Apply> {
    const { profile, apiPort: api_port, cards } = this.#deps;
    const config = this.#deps.config();
    const { region, channel, bandwidth_mhz, mcs, fec_k, fec_n, tx_power_dbm: dbm } = config;
    return {
      profile,
      region,
      channel,
      // The schema of the config allows no others.
      bandwidth_mhz: bandwidth_mhz === 40 ? 40 : 20,
      mcs,
      fec_k,
      fec_n,
      cards: cards.present.map((card) => ({ name: card.name, mbm: dbm === null ? null : mbmOf(card, dbm) })),
      slots: await Promise.all(
        radios.map(async ({ slot, fingerprint }) => ({
          slot,
          link: fingerprint.replaceAll(' ', ''),
          tunnel: tunnelAddress(slot, profile, config),
          key: await readKey(join(this.#deps.keysFolder, `slot-${slot}.key`)),
        })),
      ),
      api_port,
      restart,
    };
  }
}

/** This end's address in the tunnel of a slot (docs/contract/ground.md#binding). */
export function tunnelAddress(
  slot: number,
  profile: Profile,
  { tunnel }: Pick<RadioConfig, 'tunnel'>,
): string {
  const drone = profile === 'drone';
  if (slot === 0) return drone ? tunnel.drone : tunnel.ground;
  return `10.5.${slot}.${drone ? 2 : 1}`;
}

async function readKey(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const facts = await handle.stat();
    const why =
      distrust(path, facts) ?? (facts.size === KEY_BYTES ? null : `has ${facts.size} bytes, not 64`);
    if (why !== null) throw new Error(`${path} ${why}`);
    return (await handle.readFile()).toString('hex');
  } finally {
    await handle.close();
  }
}

function notBound(): ApiError {
  return new ApiError('E_NOT_PAIRED', 'No radio is bound to this one yet. Bind one: svc radio pair.');
}

function noCard(missing: readonly string[]): ApiError {
  const which = missing.length === 0 ? 'with a driver that wfb-ng is known to work with' : missing.join(', ');
  return new ApiError(
    'E_RADIO_REFUSED',
    `This machine has no radio card ${which}. Plug one in, or name it in radio.cards.`,
    { missing },
  );
}
