import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Backoff } from '../../../shared/async/backoff.ts';
import { contained } from '../../../shared/async/every.ts';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { removeDurably } from '../../../shared/files/remove-durably.ts';
import { parseCode } from '../../../shared/fleet/code.ts';
import type { TurnGrant } from '../../../shared/fleet/hub-api.ts';
import { newSigningKey, publicJwk, signStatement, thumbprint } from '../../../shared/fleet/signed.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { FleetPlace } from '../../../shared/rpc/fleet.ts';
import type { PublicJwk } from '../../../shared/schemas/fleet-statements.ts';
import { type EnrolmentRecord, readEnrolment, writeEnrolment } from './enrolment-file.ts';
import { enrolAt, fetchAuthority, invalid, parseHub, renewAt, turnAt } from './hub-client.ts';

/** How often the age of the certificate is looked at, and the pauses after a renewal that failed, ms. */
interface RenewalTimes {
  readonly checkMs: number;
  readonly firstMs: number;
  readonly capMs: number;
}

const RENEWAL: RenewalTimes = { checkMs: 3_600_000, firstMs: 60_000, capMs: 3_600_000 };

export interface EnrolmentOptions {
  readonly paths: Pick<Paths, 'fleet' | 'fleetPolicy' | 'fleetQueue' | 'fleetTurn' | 'flights'>;
  readonly node: {
    readonly id: string;
    readonly name: string;
    readonly profile: Profile;
    readonly version: string;
  };
  /**
   * The policy that came with an enrolment, trusted as the hub was, or with a renewal, to be judged as any other. What it throws
   * for the first one ends the enrolment.
   */
  readonly onPolicy: (jws: string, of: 'enrolment' | 'renewal') => Promise<void>;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** From 0 to 1: nodes that were switched on together do not ask together. */
  readonly random: () => number;
  readonly log: Logger;
  readonly renewal?: RenewalTimes;
}

/** What this node signs with. */
export interface Signing {
  readonly key: KeyObject;
  /** Thumbprint of the public half. */
  readonly kid: string;
  readonly publicJwk: PublicJwk;
}

/**
 * This node's place in a fleet, in `fleet.json` (0600). A file that cannot be used counts as not enrolled, and only leaving
 * removes it. The certificate is renewed from half of its life, for the same keys.
 */
export class Enrolment {
  readonly #options: EnrolmentOptions;
  readonly #changes = new Serial();
  readonly #listeners = new Set<() => void>();
  readonly #backoff: Backoff;
  #record: EnrolmentRecord | null = null;
  #signing: Signing | null = null;
  /** Why the file is not used, null if it is. */
  #fileProblem: string | null = null;
  #renewalProblem: string | null = null;
  #enrolling = false;
  #running = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: EnrolmentOptions) {
    this.#options = options;
    const { firstMs, capMs } = this.#times;
    this.#backoff = new Backoff(firstMs, capMs);
  }

  async start(): Promise<void> {
    const { paths, node, log } = this.#options;
    try {
      await this.#take(await readEnrolment(paths.fleet, node.id));
    } catch (error) {
      this.#fileProblem = `${paths.fleet} cannot be used: ${messageOf(error)}`;
      log.error(`fleet: ${this.#fileProblem}. This node counts as not enrolled.`);
    }
    this.#running = true;
    this.#lookIn(this.#times.firstMs);
  }

  async stop(): Promise<void> {
    this.#running = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#changes.idle();
  }

  /** How the broker is reached; null while not enrolled. */
  place(): FleetPlace | null {
    if (this.#record === null) return null;
    const { fleet, node, broker, broker_ws: ws, ca, certificate, key } = this.#record;
    const { name, profile, version } = this.#options.node;
    const brokers = ws === undefined ? [broker] : [broker, ws];
    return { node, fleet, name, profile, version, brokers, ca, certificate, key };
  }

  get signing(): Signing | null {
    return this.#signing;
  }

  /** For a person: without what is secret. Times in ms since 1970. */
  get view() {
    const record = this.#record;
    const problem = this.#fileProblem ?? this.#renewalProblem;
    if (record === null) return { ...NOT_ENROLLED, problem };
    const { hub, fleet, node, broker, broker_ws = null, certificate, enrolled_at } = record;
    return {
      enrolled: true,
      problem,
      hub,
      fleet,
      node,
      broker,
      broker_ws,
      enrolled_at,
      certificate_valid_to: validTo(certificate),
      certificate_renews_at: renewsAt(record),
      signing_key: this.#signing?.publicJwk ?? null,
    };
  }

  /** Called when the node was enrolled, has another certificate, or has left. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Joins the fleet of the hub that made the code, with new keys. Until all of it is on the disk, nothing has changed here; a hub
   * that had taken the code by then replaces what it stored when this node comes with another code.
   * @throws ApiError E_ENROLLED, E_BUSY, E_INVALID_VALUE, E_STORE, and as the calls of hub-client.ts
   */
  async enrol(hub: string, code: string): Promise<void> {
    const url = parseHub(hub);
    const parsed = parseCode(code);
    if (parsed === null) throw invalid('code', 'is not as the hub prints it: svc1-…-…');
    this.#refuseTwice();
    if (this.#enrolling) throw new ApiError('E_BUSY', 'This node is being enrolled right now.');
    this.#enrolling = true;
    try {
      const { node, onPolicy, now, log } = this.#options;
      const { id, ...told } = node;
      const { certificateRequest, newCertificateKey } = await certificates();
      const key = newCertificateKey();
      const signing = newSigningKey();
      const found = await fetchAuthority(url, parsed);
      const { policy, ...place } = await enrolAt(
        found,
        {
          secret: parsed.secret,
          device_id: id,
          ...told,
          csr: (await certificateRequest(key)).pem,
          signing_key: publicJwk(signing),
        },
        { node: id, key },
      );
      await this.#changes.run(async () => {
        this.#refuseTwice();
        await this.#removeRest(); // of an enrolment that was left while the power failed
        await onPolicy(policy, 'enrolment').catch((error: unknown) => {
          if (error instanceof ApiError) throw error;
          throw new ApiError(
            'E_UPSTREAM',
            `The policy of the hub at ${url} is not believed: ${messageOf(error)}`,
          );
        });
        const at = now();
        const signingPem = signing.export({ type: 'pkcs8', format: 'pem' }).toString();
        await this.#keep({
          version: 1,
          hub: url,
          ...place,
          certified_at: at,
          key,
          signing_key: signingPem,
          enrolled_at: at,
        });
      });
      log.info(`fleet: enrolled with ${place.fleet} at ${url}`);
    } finally {
      this.#enrolling = false;
    }
  }

  /**
   * Leaves the fleet, whether or not the hub is there: keys, policy and what the fleet has not been told are removed. It also
   * removes a file that cannot be used. @returns the fleet, null where the file did not say
   * @throws ApiError E_NOT_FOUND, E_STORE
   */
  async leave(): Promise<string | null> {
    return this.#changes.run(async () => {
      const { paths, log } = this.#options;
      if (this.#record === null && this.#fileProblem === null)
        throw new ApiError('E_NOT_FOUND', 'This node is not in a fleet.');
      const fleet = this.#record?.fleet ?? null;
      await removeDurably(paths.fleet).catch((error: unknown) => {
        throw new ApiError('E_STORE', `${paths.fleet} could not be removed: ${messageOf(error)}.`);
      });
      await this.#take(null);
      await this.#removeRest();
      log.warn(`fleet: left ${fleet ?? 'what could not be read'}`);
      return fleet;
    });
  }

  /** The hub's TURN servers with credentials for this node; null while not enrolled. @throws ApiError as `turnAt` */
  async turn(): Promise<TurnGrant | null> {
    if (this.#record === null) return null;
    const { hub: url, ca, node } = this.#record;
    const { key, kid } = await signingOf(this.#record);
    const at = Math.floor(this.#options.now() / 1000);
    const jti = randomBytes(16).toString('base64url');
    return turnAt({ url, ca }, await signStatement('svc-turn', { node, at, jti }, key, kid));
  }

  get #times(): RenewalTimes {
    return this.#options.renewal ?? RENEWAL;
  }

  #refuseTwice(): void {
    if (this.#fileProblem !== null)
      throw new ApiError('E_STORE', `${this.#fileProblem}. Leave the fleet to remove it.`);
    if (this.#record !== null)
      throw new ApiError('E_ENROLLED', `This node is in the fleet ${this.#record.fleet}. Leave it first.`);
  }

  /** Policy, queue and flights that were not told yet are of one enrolment. @throws ApiError E_STORE */
  async #removeRest(): Promise<void> {
    const { fleetPolicy, fleetQueue, fleetTurn, flights } = this.#options.paths;
    const files = [fleetPolicy, fleetTurn, fleetQueue, `${fleetQueue}-wal`, `${fleetQueue}-shm`, flights];
    for (const file of files)
      await rm(file, { recursive: true, force: true }).catch((error: unknown) => {
        throw new ApiError('E_STORE', `${file} could not be removed: ${messageOf(error)}.`);
      });
  }

  async #keep(record: EnrolmentRecord): Promise<void> {
    await writeEnrolment(this.#options.paths.fleet, record).catch((error: unknown) => {
      throw new ApiError('E_STORE', `The enrolment could not be written: ${messageOf(error)}.`);
    });
    await this.#take(record);
  }

  async #take(record: EnrolmentRecord | null): Promise<void> {
    const signing = record === null ? null : await signingOf(record);
    this.#record = record;
    this.#signing = signing;
    this.#fileProblem = null;
    this.#renewalProblem = null;
    for (const listener of this.#listeners) listener();
  }

  #lookIn(ms: number): void {
    if (!this.#running) return;
    const spread = ms * (0.5 + this.#options.random() / 2);
    this.#timer = setTimeout(
      contained('fleet', async () => this.#look()),
      spread,
    );
  }

  async #look(): Promise<void> {
    const record = this.#record;
    if (record === null || this.#options.now() < renewsAt(record)) {
      this.#lookIn(this.#times.checkMs);
      return;
    }
    try {
      await this.#renew(record);
      this.#backoff.reset();
      this.#lookIn(this.#times.checkMs);
    } catch (error) {
      const problem = `the certificate could not be renewed: ${messageOf(error)}`;
      if (this.#record === record) {
        if (problem !== this.#renewalProblem) this.#options.log.warn(`fleet: ${problem}`);
        this.#renewalProblem = problem;
      }
      this.#lookIn(this.#backoff.next());
    }
  }

  /** The old certificate is used until the new one is on the disk. */
  async #renew(record: EnrolmentRecord): Promise<void> {
    const { now, log, onPolicy } = this.#options;
    const { hub: url, ca, node, key } = record;
    const { key: signingKey, kid } = await signingOf(record);
    const { pem: csr } = await (await certificates()).certificateRequest(key);
    const statement = await signStatement(
      'svc-renew',
      { node, csr, at: Math.floor(now() / 1000), jti: randomBytes(16).toString('base64url') },
      signingKey,
      kid,
    );
    const { policy, ...place } = await renewAt({ url, ca }, statement, { node, key });
    if (place.fleet !== record.fleet) throw new Error('the hub answered for another fleet');
    await this.#changes.run(async () => {
      if (this.#record !== record) return; // left meanwhile
      await this.#keep({ ...record, ...place, certified_at: now() });
      log.info('fleet: the certificate is renewed');
      await onPolicy(policy, 'renewal').catch((error: unknown) =>
        log.warn(`fleet: the policy that came with the certificate is not taken: ${messageOf(error)}`),
      );
    });
  }
}

/** Loaded on demand: it takes 70 ms and 6 MB, which a node needs twice a year. */
async function certificates() {
  return import('../../../shared/certificates/request.ts');
}

const NOT_ENROLLED = {
  enrolled: false,
  hub: null,
  fleet: null,
  node: null,
  broker: null,
  broker_ws: null,
  enrolled_at: null,
  certificate_valid_to: null,
  certificate_renews_at: null,
  signing_key: null,
} as const;

async function signingOf({ signing_key: pem }: EnrolmentRecord): Promise<Signing> {
  const key = createPrivateKey(pem);
  const jwk = publicJwk(key);
  return { key, kid: await thumbprint(jwk), publicJwk: jwk };
}

function validTo(certificate: string): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

/** Half of its life since it came; every certificate begins in 2020, so its own beginning says nothing. */
function renewsAt({ certificate, certified_at: from }: EnrolmentRecord): number {
  return Math.round(from + (validTo(certificate) - from) / 2);
}
