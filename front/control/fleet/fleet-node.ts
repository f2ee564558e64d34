import type { Duplex } from 'node:stream';
import { ApiError } from '../../../shared/errors.ts';
import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import type { NodeStatus } from '../../../shared/fleet/told.ts';
import type { JsonObject } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Handlers, type Server, serverOf } from '../../../shared/rpc/contract.ts';
import { FLEET, type FleetLinkState, type FleetPlace, type FleetUplink } from '../../../shared/rpc/fleet.ts';
import type { FleetCredential } from '../edge/decision.ts';
import { CallVerifier } from './call-credential.ts';
import type { Enrolment } from './enrolment.ts';
import { FleetCalls } from './fleet-calls.ts';
import { Nonces } from './nonces.ts';
import { PolicyStore } from './policy-store.ts';
import { runCall } from './run-call.ts';
import { Watches } from './watches.ts';

/** The most pictures a second to the fleet. */
const PICTURES_HZ = 5;
/** A node that has left still carries the answer to the call that it left by. */
const PARTING_MS = 1000;

export interface FleetNodeOptions {
  readonly socketPath: string;
  readonly policyFile: string;
  readonly node: string;
  /** `fleet.operators` and `fleet.scopes` of the config. */
  readonly operators: readonly string[];
  readonly scopes: readonly string[];
  /** `fleet.watched_hz` and `fleet.pictures`. */
  readonly watchedHz: number;
  readonly pictures: boolean;
  readonly enrolment: Pick<Enrolment, 'place' | 'signing' | 'onChange'>;
  /** The body of GET /api/status, with what a list of nodes shows. */
  readonly status: () => Omit<NodeStatus, 'nonce' | 'events_behind'>;
  /** The body of GET /api/telemetry; null while svc-link is away. */
  readonly telemetry: () => JsonObject | null;
  /** A connection to the front for one call. */
  readonly connection: (caller: string, credential: FleetCredential) => Duplex;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** The fleet's side of svc-control: svc-fleet carries, here it is verified, decided and signed (`fleet.sock`). */
export class FleetNode {
  readonly policy: PolicyStore;
  readonly #options: FleetNodeOptions;
  readonly #nonces: Nonces;
  readonly #verifier: CallVerifier;
  readonly #calls: FleetCalls;
  readonly #watches: Watches;
  #server: Server<typeof FLEET> | null = null;
  #uplink: FleetUplink = { telemetry_hz: null, change: null };
  #link: FleetLinkState | null = null;
  #forget: (() => void) | null = null;
  #parting: NodeJS.Timeout | null = null;

  constructor(options: FleetNodeOptions) {
    const { policyFile, node, operators, scopes, enrolment, connection, now, monotonic, log } = options;
    const { watchedHz, pictures } = options;
    this.#options = options;
    const fleet = (): string | null => enrolment.place()?.fleet ?? null;
    this.policy = new PolicyStore({ file: policyFile, fleet, now, monotonic, log });
    this.#nonces = new Nonces(monotonic);
    this.#verifier = new CallVerifier({
      node,
      fleet,
      policy: this.policy,
      nonces: this.#nonces,
      now: monotonic,
      operators,
      scopes,
    });
    this.#calls = new FleetCalls({
      node,
      verifier: this.#verifier,
      signing: () => enrolment.signing,
      run: async (caller, call, credential) => runCall(connection(caller, credential), call),
      now: monotonic,
    });
    this.#watches = new Watches({
      node,
      policy: this.policy,
      nonces: this.#nonces,
      telemetryHz: watchedHz,
      // A picture is what GET /api/video/snapshot shows: who may not read that gets none.
      picturesHz: pictures && scopes.includes('read') ? PICTURES_HZ : 0,
      now: monotonic,
    });
  }

  async start(): Promise<void> {
    const { socketPath, log } = this.#options;
    await this.policy.start();
    const server = serverOf(FLEET, {
      handlers: this.#handlers(),
      path: socketPath,
      mode: 0o600,
      greeting: () => [
        ['place', this.#place()],
        ['uplink', { ...this.#uplink, change: null }],
      ],
      onError: (error) => log.error(`fleet: ${String(error)}`),
    });
    this.#server = server;
    await server.start();
    this.#forget = this.#options.enrolment.onChange(() => this.#changed());
  }

  async stop(): Promise<void> {
    this.#forget?.();
    if (this.#parting !== null) clearTimeout(this.#parting);
    await this.#server?.stop();
    await this.policy.stop();
  }

  /** Whether a caller of the fleet, by the id of its principal, could still call. */
  holds(id: string): boolean {
    return this.#verifier.holds(id);
  }

  /** Another uplink is used: what svc-fleet has open goes by the old one. */
  uplinkIs(uplink: FleetUplink): void {
    this.#uplink = uplink;
    this.#server?.tell('uplink', uplink);
  }

  /** What svc-fleet last said of its connection; null while it does not run. */
  get link(): FleetLinkState | null {
    return this.#link;
  }

  /** From the hub itself. @throws NotBelieved, ApiError E_STORE */
  async policyCame(jws: string, of: 'enrolment' | 'renewal'): Promise<void> {
    await (of === 'enrolment' ? this.policy.trust(jws) : this.policy.accept(jws));
  }

  /** Tells svc-fleet that the node has enrolled, left, or has another certificate. */
  #changed(): void {
    if (this.#parting !== null) clearTimeout(this.#parting);
    this.#parting = setTimeout(
      () => this.#server?.tell('place', this.#place()),
      this.#place() === null ? PARTING_MS : 0,
    );
    if (this.#place() === null) this.#link = null;
  }

  #place(): FleetPlace | null {
    return this.#options.enrolment.place();
  }

  #handlers(): Handlers<typeof FLEET> {
    const { node, status, telemetry } = this.#options;
    return {
      place: () => ({ place: this.#place() }),
      status: () => ({ ...status(), nonce: this.#nonces.current }),
      telemetry: () => {
        const body = telemetry();
        if (body === null) throw new ApiError('E_UPSTREAM_DOWN');
        return body;
      },
      call: async ({ caller, jws }) => ({ reply: await this.#calls.call(caller, jws) }),
      policy: async ({ jws }) => ({ seq: await believed(async () => this.policy.accept(jws)) }),
      ack: async ({ jws }) =>
        believed(async () => {
          const { payload } = await verifyStatement('svc-ack', jws, (kid) => this.policy.key(kid));
          if (payload.node !== node) throw new NotBelieved('svc-ack: for another node');
          return { stream: payload.stream, seq: payload.seq };
        }),
      watch: async ({ jws }) => believed(async () => this.#watches.take(jws)),
      report: (link) => {
        this.#link = link;
        return {};
      },
    };
  }
}

async function believed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotBelieved)
      throw new ApiError('E_INVALID_VALUE', `Not believed: ${error.message}.`);
    throw error;
  }
}
