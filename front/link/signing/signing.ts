import { CLOCK_FLOOR_MS } from '../../../shared/auth/token.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { SigningEnrolRequest } from '../../../shared/rpc/link.ts';
import type { SigningCapability, SigningEnrolled, SigningState } from '../../../shared/rpc/link-answers.ts';
import type { LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Encoder, Target } from '../encode.ts';
import type { Params } from '../params/params.ts';
import type { Methods, Part, SessionReason } from '../part.ts';
import { Signer } from '../signer.ts';
import type { Speaking } from '../speaking.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { KeyStore, StoredKey } from './key-store.ts';

/** MAV_PROTOCOL_CAPABILITY_MAVLINK2: only v2 frames can be signed. */
const CAPABILITY_MAVLINK2 = 8192;
/** SETUP_SIGNING has no acknowledgement: it is sent twice. */
const AGAIN_MS = 200;
/** How long the vehicle may take to send its first signed (or first unsigned) frame. */
const VERIFY_MS = 5000;
const REQUIRE = 'SIGNING_REQUIRE';
/** How often the stored keys are tried on a frame that no key at hand fits. */
const TRY_MS = 1000;
/** The key is lost if signed frames came within this time and none could be verified. */
const LOST_MS = 5000;

interface SigningOptions extends Speaking {
  readonly params: Params;
  /** Encode our frames to ground stations, which may have the key and reject unsigned frames. */
  readonly replies: readonly Encoder[];
  /** Null: keys are not stored. */
  readonly keys: KeyStore | null;
  /** Called when the vehicle accepts our frames, which it may have ignored before. */
  readonly onEnrolled: () => void;
}

/**
 * MAVLink 2 signing between this node and the flight controller. An enrolment counts only when the vehicle's own frames are
 * signed with the new key; otherwise our frames go out as before. Keys are kept on disk. After a restart the stored key that
 * fits a signed frame of the vehicle is used; the vehicle's uid is not needed (it would not answer an unsigned request).
 */
export class Signing implements Part {
  readonly methods = {
    signing: () => this.#state,
    signing_enrol: async (request) => this.#enrol(request),
    signing_disable: async ({ force }) => this.#disable(force),
  } satisfies Methods;
  readonly #options: SigningOptions;
  #signer: Signer | null = null;
  #busy = false;
  /** Watches the vehicle's frames while an enrolment or its end is verified. */
  #watch: ((frame: Frame) => void) | null = null;
  #rxSigned = 0;
  #rxVerified = 0;
  #rxBad = 0;
  #lastSignedAt: number | null = null;
  /** On the monotonic clock: the newest signed frame that no key fits, and the newest that ours does. */
  #strangeAt = -Infinity;
  #verifiedAt = -Infinity;
  #triedAt = -Infinity;

  constructor(options: SigningOptions) {
    this.#options = options;
  }

  /** It only counts frames; the vehicle model checks them. */
  onFrame(frame: Frame): void {
    const { vehicle, clock } = this.#options;
    if (frame.system !== vehicle.target?.system) return;
    this.#watch?.(frame);
    if (!frame.signed) return;
    this.#rxSigned++;
    this.#lastSignedAt = clock.wall();
    if (this.#signer?.verifies(frame) === true || this.#findKey(frame)) {
      this.#rxVerified++;
      this.#verifiedAt = clock.now();
      return;
    }
    if (this.#signer !== null) this.#rxBad++;
    this.#strangeAt = clock.now();
  }

  /** Whether the vehicle signs with a key that we do not have; it may then ignore all our frames. */
  get #lost(): boolean {
    const now = this.#options.clock.now();
    return now - this.#strangeAt < LOST_MS && now - this.#verifiedAt >= LOST_MS;
  }

  problems(): LinkProblem[] {
    if (!this.#lost) return [];
    const detail =
      'The vehicle signs what it sends, and this node does not have its key: it may ignore all commands from this node and its ground stations. Enrol its key again.';
    return [{ code: 'signing_lost', detail }];
  }

  /** Looks for the stored key that this frame was signed with, and uses it. */
  #findKey(frame: Frame): boolean {
    const { clock, keys, log } = this.#options;
    if (keys === null || keys.keys.length === 0 || clock.now() - this.#triedAt < TRY_MS) return false;
    this.#triedAt = clock.now();
    for (const { key, linkId, keyId } of keys.keys) {
      if (keyId === this.#signer?.keyId) continue;
      const signer = new Signer(Buffer.from(key), linkId, () => clock.wall());
      if (signer.verifies(frame)) {
        this.#use(signer);
        log.info(`the vehicle signs with the stored key ${keyId}`);
        this.#options.onEnrolled();
        return true;
      }
      signer.forget();
    }
    return false;
  }

  onSession(reason: SessionReason): void {
    if (reason === 'learned') this.#use(null);
  }

  get #state(): SigningState {
    const { encoder, params } = this.#options;
    const require = params.valueOf(REQUIRE);
    return {
      capability: this.#capability(),
      require: require === null ? null : Math.trunc(require) !== 0,
      counters: {
        tx_signed_count: encoder.signed,
        rx_signed_count: this.#rxSigned,
        rx_verified_count: this.#rxVerified,
        rx_bad_signature_count: this.#rxBad,
        last_signed_rx_at: this.#lastSignedAt === null ? null : new Date(this.#lastSignedAt).toISOString(),
      },
      signing: this.#signer !== null,
      key_id: this.#signer?.keyId ?? null,
    };
  }

  /**
   * Sends the vehicle a key, and signs with it once the vehicle does.
   * @throws ApiError E_NO_FC, E_ARMED, E_INVALID_VALUE (a key of zeros, another target), E_CLOCK, E_NOT_IMPLEMENTED,
   *   E_RATE_LIMITED, E_STORE (the key could not be stored): nothing was sent; E_UPSTREAM: the vehicle did not sign within 5 s,
   *   and nothing has changed
   */
  async #enrol({ key_hex: hex, link_id: linkId, force }: SigningEnrolRequest): Promise<SigningEnrolled> {
    const { clock, log } = this.#options;
    const target = this.#ready('enrol a signing key', force);
    const key = Buffer.from(hex, 'hex');
    if (key.length !== 32 || key.every((byte) => byte === 0)) {
      const errors = [{ path: '/key_hex', message: 'is 32 bytes, not all of them zero' }];
      throw new ApiError('E_INVALID_VALUE', 'key_hex is 32 bytes, not all zero.', { errors });
    }
    if (clock.wall() < CLOCK_FLOOR_MS) throw new ApiError('E_CLOCK');
    const { supported, reason } = this.#capability();
    if (!supported)
      throw new ApiError(
        'E_NOT_IMPLEMENTED',
        `This flight controller does not keep a signing key: ${reason}.`,
      );
    const candidate = new Signer(key, linkId, () => clock.wall());
    const before = this.#signer;
    this.#busy = true;
    const stored = { vehicle: this.#vehicleName(), keyId: candidate.keyId, key: Buffer.from(key), linkId };
    try {
      // Stored first: if the vehicle had a key that we lost, we could not control it any more.
      await this.#keep(stored);
      const setup = candidate.setup(target.system, target.component);
      const good = await this.#sendSetup(
        setup,
        [before, candidate],
        (frame) => frame.signed && candidate.verifies(frame),
      );
      if (!good) {
        await this.#rollBack(target, candidate, before);
        candidate.forget();
        if (before?.keyId !== stored.keyId)
          await this.#options.keys?.remove(({ keyId }) => keyId === stored.keyId);
        throw new ApiError(
          'E_UPSTREAM',
          'The flight controller did not sign with this key within 5 s. Signing is unchanged.',
        );
      }
    } finally {
      this.#busy = false;
    }
    this.#use(candidate);
    await this.#options.keys?.remove(
      ({ vehicle, keyId }) => vehicle === stored.vehicle && keyId !== stored.keyId,
    );
    log.info(`signing key ${candidate.keyId} enrolled`);
    this.#options.onEnrolled();
    return {
      success: true,
      key_id: candidate.keyId,
      enrolled_at: new Date(clock.wall()).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  }

  /**
   * Ends signing on the vehicle, and on our side once the vehicle's frames come unsigned.
   * @throws ApiError E_NO_FC, E_ARMED, E_RATE_LIMITED; E_UPSTREAM when it still signs after 5 s
   */
  async #disable(force: boolean): Promise<{ success: true }> {
    const { log, encoder } = this.#options;
    const target = this.#ready('disable signing', force);
    this.#busy = true;
    try {
      const setup = encoder.setupNone(target);
      const good = await this.#sendSetup(
        setup,
        [this.#signer],
        (frame) => !frame.signed && frame.id === MSG.HEARTBEAT,
      );
      if (!good)
        throw new ApiError('E_UPSTREAM', 'The flight controller still signs what it sends after 5 s.');
    } finally {
      this.#busy = false;
    }
    const gone = this.#signer?.keyId;
    this.#use(null);
    await this.#options.keys?.remove(({ keyId }) => keyId === gone);
    log.info('signing disabled');
    return { success: true };
  }

  #ready(action: string, force: boolean): Target {
    const { vehicle, guard } = this.#options;
    const target = vehicle.reach();
    // The edge checked this too, but the vehicle may have armed since (docs/threat-model.md J7).
    guard.demand('signing', target.system, force, { says: action });
    if (this.#busy) throw new ApiError('E_RATE_LIMITED', 'Another signing change is in progress.');
    return target;
  }

  /**
   * Sends SETUP_SIGNING twice, both unsigned (for a vehicle that does not sign yet) and signed by each of the signers (for one
   * that does), and waits for a frame that proves the change.
   */
  async #sendSetup(
    payload: Buffer,
    signers: readonly (Signer | null)[],
    shows: (frame: Frame) => boolean,
  ): Promise<boolean> {
    const { clock } = this.#options;
    const say = (): void => this.#say(payload, signers);
    return new Promise((resolve) => {
      let first = false;
      const done = (good: boolean): void => {
        this.#watch = null;
        again.cancel();
        late.cancel();
        resolve(good);
      };
      const again = clock.after(AGAIN_MS, () => {
        say();
        first = true;
      });
      const late = clock.after(VERIFY_MS, () => done(false));
      // Only after both have gone out: an older frame proves nothing.
      this.#watch = (frame) => {
        if (first && shows(frame)) done(true);
      };
      say();
    });
  }

  #say(payload: Buffer, signers: readonly (Signer | null)[]): void {
    const { encoder, send } = this.#options;
    send(encoder.setupSigning(payload, null));
    for (const signer of signers) if (signer !== null) send(encoder.setupSigning(payload, signer));
  }

  /** The vehicle may have accepted the key without a sign of it: sends it the former key, or none. */
  async #rollBack(target: Target, candidate: Signer, before: Signer | null): Promise<void> {
    const { encoder, clock } = this.#options;
    const payload = before?.setup(target.system, target.component) ?? encoder.setupNone(target);
    this.#say(payload, [candidate, before]);
    await new Promise<void>((resolve) => {
      clock.after(AGAIN_MS, resolve);
    });
    this.#say(payload, [candidate, before]);
  }

  /** @throws ApiError E_STORE */
  async #keep(key: StoredKey): Promise<void> {
    try {
      await this.#options.keys?.add(key);
    } catch (error) {
      const why = messageOf(error);
      throw new ApiError('E_STORE', `The signing key could not be kept, and nothing was sent: ${why}`);
    }
  }

  #vehicleName(): string {
    const { version, target } = this.#options.vehicle;
    return version?.uid ?? `system${target?.system ?? 0}`;
  }

  #use(signer: Signer | null): void {
    if (this.#signer !== signer) this.#signer?.forget();
    this.#signer = signer;
    this.#options.encoder.signer = signer;
    for (const encoder of this.#options.replies) encoder.signer = signer;
  }

  #capability(): SigningCapability {
    const { vehicle, params } = this.#options;
    const { capabilities, firmware, version } = vehicle;
    const reason = reasonFor(vehicle.alive ? firmware : null, capabilities);
    return {
      supported: reason === 'ok',
      reason,
      firmware_name: firmware === null ? null : (NAMES[firmware] ?? null),
      firmware_version: version?.text ?? null,
      signing_params_present: params.has('SIGNING_'),
    };
  }
}

const NAMES: Readonly<Record<string, string>> = { ardupilot: 'ArduPilot', px4: 'PX4' };

function reasonFor(firmware: Vehicle['firmware'], capabilities: number | null): SigningCapability['reason'] {
  if (firmware === null) return 'fc_not_connected';
  if (firmware === 'px4') return 'firmware_px4_no_persistent_store';
  if (firmware !== 'ardupilot') return 'firmware_not_supported';
  return capabilities !== null && (capabilities & CAPABILITY_MAVLINK2) === 0 ? 'firmware_too_old' : 'ok';
}
