import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import { type Agreement, agree, makeRadioKeys } from '../../../shared/radio-keys.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { radioPairAnswer, radioPairRequest } from '../../../shared/schemas/radio-pairing.ts';
import type { DroneApi } from './drone-api.ts';
import { type PairStore, type StoredRadio, withoutPrevious } from './pair-store.ts';

/** How long a new key has to carry data before the old one comes back. */
const PROOF_MS = 45_000;

type PairRequest = Made<typeof radioPairRequest>;

type PairAnswer = Made<typeof radioPairAnswer>;

interface RadioPairingOptions {
  readonly store: PairStore;
  readonly profile: Profile;
  readonly deviceId: string;
  readonly name: string;
  /** How a ground station reaches a drone that is not bound yet. */
  readonly drone: DroneApi;
  /** How many drones can have a link to this ground station: one, where somebody else runs wfb-ng. */
  readonly drones: number;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly proofMs?: number;
  readonly log: Logger;
}

/**
 * The binding of a ground station's radio to a drone's (docs/contract/ground.md#binding): each end makes its own key, and only the public
 * halves travel. wfb-ng is started with the new key when the store tells that it has changed.
 */
export class RadioPairing {
  readonly #options: RadioPairingOptions;
  /** One binding at a time: each of them replaces a key. */
  readonly #work = new Serial();
  readonly #trials = new Map<string, NodeJS.Timeout>();

  constructor(options: RadioPairingOptions) {
    this.#options = options;
  }

  /** A process that was killed in the middle of a binding goes on with it here. */
  async start(): Promise<void> {
    for (const radio of this.#options.store.stored()) if (!radio.proved) this.#try(radio.device_id);
  }

  async stop(): Promise<void> {
    for (const timer of this.#trials.values()) clearTimeout(timer);
    await this.#work.idle();
  }

  /** @throws ApiError E_INVALID_VALUE for the other profile's form, and as `#bindDrone`, `#bindGround` */
  async pair(request: PairRequest): Promise<PairAnswer> {
    const { profile } = this.#options;
    const {
      ground_id: groundId,
      public_key: peerPublic,
      ground_name: groundName = '',
      host,
      key,
      code,
    } = request;
    if (groundId !== undefined && peerPublic !== undefined && host === undefined) {
      if (profile !== 'drone')
        throw wrongForm('ground_id', 'This is a ground station: name the drone, as host with key or code.');
      return this.#work.run(async () =>
        this.#answerGround(groundId, groundName, peerPublic, request.slot ?? 0),
      );
    }
    if (profile === 'drone') throw wrongForm('host', 'This is a drone: it is bound from its ground station.');
    if (host === undefined || (key === undefined) === (code === undefined))
      throw wrongForm(
        'key',
        "Send the drone's pairing key as key, or the pairing code of an unpaired drone as code.",
      );
    return this.#work.run(async () => this.#bindDrone(host, key, code));
  }

  /**
   * Forgets a radio: its key and the relay's secret end at once, and no older key comes back.
   * @throws ApiError E_NOT_FOUND, E_STORE
   */
  async unpair(deviceId: string): Promise<{ readonly paired: boolean; readonly device_id: string }> {
    return this.#work.run(async () => {
      const { store, log } = this.#options;
      if (this.#find(deviceId) === undefined)
        throw new ApiError(
          'E_NOT_FOUND',
          `No radio of ${deviceId} is bound here. GET /api/wfb/pair lists them.`,
        );
      this.#endTrial(deviceId);
      await store.change((radios) => radios.filter(({ device_id: id }) => id !== deviceId));
      log.warn(`radio: ${deviceId} is no longer bound`);
      return { paired: store.list().length > 0, device_id: deviceId };
    });
  }

  /** The link to that node has carried data both ways, authenticated by the present key. */
  proved(deviceId: string): void {
    const radio = this.#find(deviceId);
    if (radio === undefined || radio.proved) return;
    this.#endTrial(deviceId);
    const { store, log } = this.#options;
    store
      .change((radios) =>
        radios.map((each) =>
          each.device_id === deviceId && each.fingerprint === radio.fingerprint
            ? { ...each, proved: true, previous: null }
            : each,
        ),
      )
      .then(() => log.info(`radio: the new key of ${deviceId} carries data`))
      .catch((error: unknown) => log.error(`radio: ${messageOf(error)}`));
  }

  /** A drone: makes its half for the ground station that asks. @throws ApiError E_PAIRED, E_INVALID_VALUE, E_STORE */
  async #answerGround(groundId: string, name: string, peerPublic: string, slot: number): Promise<PairAnswer> {
    const other = this.#options.store.list().find(({ device_id: id }) => id !== groundId);
    if (other !== undefined)
      throw new ApiError(
        'E_PAIRED',
        `The radio is bound to the ground station ${other.device_id}. End that first: DELETE /api/wfb/pair?device_id=${other.device_id}.`,
      );
    const { secret, publicKey } = makeRadioKeys();
    const agreement = this.#agree(secret, peerPublic);
    await this.#keep({ slot, device_id: groundId, name, secret, peerPublic, agreement });
    return {
      device_id: this.#options.deviceId,
      public_key: publicKey.toString('hex'),
      fingerprint: agreement.fingerprint,
      proved: false,
    };
  }

  /**
   * A ground station: sends its half to the drone and keeps what they agree on.
   * @throws ApiError E_PAIRED, E_BUSY, E_REMOTE, E_TIMEOUT, E_UPSTREAM with the drone's own words; nothing is kept then
   */
  async #bindDrone(host: string, key: string | undefined, code: string | undefined): Promise<PairAnswer> {
    const { drone, deviceId, name } = this.#options;
    const at = await drone.at(host);
    const about = await at.about();
    const slot = this.#slotFor(about.device_id);
    const claimed = key === undefined ? await at.claim(code ?? '', deviceId) : null;
    try {
      const { secret, publicKey } = makeRadioKeys();
      const half = {
        ground_id: deviceId,
        ground_name: name,
        public_key: publicKey.toString('hex'),
        slot,
      };
      const answer = await at.pair(key ?? claimed ?? '', half);
      const agreement = this.#agree(secret, answer.public_key);
      if (agreement.fingerprint !== answer.fingerprint || about.device_id !== answer.device_id)
        throw new ApiError('E_UPSTREAM', `The drone at ${host} answers with another id or fingerprint.`);
      await this.#keep({ slot, ...about, secret, peerPublic: answer.public_key, agreement });
      return {
        device_id: about.device_id,
        public_key: half.public_key,
        fingerprint: agreement.fingerprint,
        proved: false,
        ...(claimed === null ? {} : { drone_key: claimed }),
      };
    } catch (error) {
      // Nobody else knows the key of a drone that was claimed for this.
      if (claimed !== null) await at.unclaim(claimed).catch((failed: unknown) => keyLeft(claimed, failed));
      throw error;
    }
  }

  /** Its own, or the first that is free. @throws ApiError E_PAIRED, E_BUSY */
  #slotFor(deviceId: string): number {
    const { store, drones } = this.#options;
    const own = this.#find(deviceId)?.slot;
    if (own !== undefined && own < drones) return own;
    const others = store.list().filter(({ device_id: id }) => id !== deviceId);
    const [first] = others;
    if (drones === 1 && first !== undefined)
      throw new ApiError(
        'E_PAIRED',
        `Where radio.mode is external, wfb-ng has one link, and the drone ${first.device_id} is bound to it: a second one would never be heard. End that binding first (svc radio unpair ${first.device_id}), or let this node run wfb-ng (radio.mode managed).`,
      );
    const taken = new Set(others.map(({ slot }) => slot));
    const free = Array.from({ length: drones }, (_, slot) => slot).find((slot) => !taken.has(slot));
    if (free === undefined)
      throw new ApiError('E_BUSY', `All ${drones} slots are taken. End the binding of a drone first.`);
    return free;
  }

  #agree(secret: Buffer, peerPublic: string): Agreement {
    try {
      return agree(secret, Buffer.from(peerPublic, 'hex'));
    } catch (error) {
      throw wrongForm('public_key', `With this public key there is no agreement: ${messageOf(error)}.`);
    }
  }

  async #keep(made: {
    readonly slot: number;
    readonly device_id: string;
    readonly name: string;
    readonly secret: Buffer;
    readonly peerPublic: string;
    readonly agreement: Agreement;
  }): Promise<void> {
    const { store, now, log } = this.#options;
    const before = this.#find(made.device_id);
    const next: StoredRadio = {
      slot: made.slot,
      device_id: made.device_id,
      name: made.name,
      fingerprint: made.agreement.fingerprint,
      paired_at: new Date(now()).toISOString(),
      proved: false,
      own_secret: made.secret.toString('hex'),
      peer_public: made.peerPublic,
      relay_secret: made.agreement.relaySecret.toString('hex'),
      previous: before === undefined ? null : before.proved ? withoutPrevious(before) : before.previous,
    };
    await store.change((radios) => [...radios.filter(({ device_id: id }) => id !== made.device_id), next]);
    log.info(`radio: bound to ${made.device_id}, fingerprint ${next.fingerprint}`);
    this.#try(made.device_id);
  }

  /** Goes back to the older key if the new one does not carry data in time; without an older one there is nothing to go back to. */
  #try(deviceId: string): void {
    this.#endTrial(deviceId);
    const { proofMs = PROOF_MS, log } = this.#options;
    const timer = setTimeout(() => {
      this.#trials.delete(deviceId);
      this.#work
        .run(async () => this.#goBack(deviceId))
        .catch((error: unknown) => log.error(`radio: the older key of ${deviceId}: ${messageOf(error)}`));
    }, proofMs);
    timer.unref();
    this.#trials.set(deviceId, timer);
  }

  async #goBack(deviceId: string): Promise<void> {
    const { store, log } = this.#options;
    const radio = this.#find(deviceId);
    if (radio === undefined || radio.proved || radio.previous === null) return;
    const { previous } = radio;
    await store.change((radios) =>
      radios.map((each) => (each.device_id === deviceId ? { ...previous, previous: null } : each)),
    );
    log.warn(`radio: the new key of ${deviceId} carried no data; the older one holds again`);
  }

  #endTrial(deviceId: string): void {
    clearTimeout(this.#trials.get(deviceId));
    this.#trials.delete(deviceId);
  }

  #find(deviceId: string): StoredRadio | undefined {
    return this.#options.store.stored().find(({ device_id: id }) => id === deviceId);
  }
}

/** @throws ApiError with the key, so that the drone is not lost to its owner */
function keyLeft(key: string, failed: unknown): never {
  const words = `The drone was claimed, its radio was not bound, and it could not be unpaired again (${messageOf(failed)}). Keep its pairing key.`;
  throw new ApiError('E_UPSTREAM', words, { drone_key: key });
}

function wrongForm(member: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', message, { errors: [{ path: `/${member}`, message }] });
}
