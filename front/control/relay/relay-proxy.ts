import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '../../../shared/errors.ts';
import { CLIENT_ID_HEADER } from '../../../shared/flight/pilot.ts';
import type { Pass, PilotRule } from '../edge/decision.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';
import { RELAY_CALLER_HEADER, stateCaller } from '../edge/relay.ts';
import { Forwarder } from '../forward/forwarder.ts';
import type { Step } from '../middleware/exchange.ts';
import { noDrone, type RelayClient } from './relay-client.ts';

/** A small answer either comes soon, or the radio is the reason why it does not. */
const QUICK_MS = 2000;
/** Beyond what the drone gives itself, so that its own time-out is what the caller sees. */
const BEYOND_MS = 3000;

interface RelayProxyOptions {
  readonly client: RelayClient;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly principalWatch: PrincipalWatch;
  readonly pilot: PilotRule & { onEvent(listener: () => void): () => void };
}

/** `relay-proxy/{device_id}/{*path}`: a decided request goes to the drone, which decides again, about the caller that we state. */
export class RelayProxy {
  readonly #forwarder: Forwarder;
  readonly #options: RelayProxyOptions;

  constructor(options: RelayProxyOptions) {
    this.#options = options;
    const { client, now, principalWatch } = options;
    this.#forwarder = new Forwarder({
      agent: client.agent,
      target: {
        router: (req) => ({ protocol: 'https:', host: droneOf(req), port: 443 }),
      },
      now,
      principalWatch,
      headers: ({ principal, clientId }) => ({
        host: 'drone',
        [RELAY_CALLER_HEADER]: stateCaller(principal) ?? '',
        ...(clientId === null ? {} : { [CLIENT_ID_HEADER]: clientId }),
      }),
      timeoutMs,
      onAnswer: ({ params }) => client.answered(params['device_id'] ?? ''),
      errorOf: (error, { params }) => client.errorOf(error, params['device_id'] ?? '', null),
      lateOf: (pass) => client.errorOf(null, pass.params['device_id'] ?? '', timeoutMs(pass)),
    });
  }

  start(): void {
    this.#forwarder.start();
  }

  stop(): void {
    this.#forwarder.stop();
  }

  readonly middleware: Step = (req, res, next) => {
    const { pass } = res.locals;
    if (pass.row.scope !== 'inner') {
      next();
      return;
    }
    this.#aim(req, pass);
    this.#forwarder.middleware(req, res, next);
  };

  get full(): boolean {
    return this.#forwarder.full;
  }

  /** As `Forwarder.upgrade`. */
  upgrade(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    pass: Pass,
    fail: (error: ApiError) => void,
  ): void {
    this.#aim(req, pass);
    this.#forwarder.upgrade(req, socket, head, pass, fail);
    if (pass.policy.blast === 'none') return;
    // What flies the drone belongs to the pilot in command, also if it was opened before the claim.
    const { pilot } = this.#options;
    const end = pilot.onEvent(() => {
      if (pilot.otherThan(pass.clientId) !== null) socket.destroy();
    });
    socket.once('close', end);
  }

  /** @throws ApiError E_NOT_FOUND */
  #aim(req: IncomingMessage, { params, query }: Pass): void {
    const id = params['device_id'] ?? '';
    if (!this.#options.client.isBound(id)) throw noDrone(id);
    tagsOf(req)[DRONE] = id;
    // A raw parameter: its bytes are those that were decided upon.
    req.url = `/${params['path'] ?? ''}${query === '' ? '' : `?${query}`}`;
  }
}

const DRONE = Symbol('drone');
function tagsOf(req: object): { [DRONE]?: string } {
  return req;
}

function droneOf(req: IncomingMessage): string {
  return tagsOf(req)[DRONE] ?? '';
}

function timeoutMs({ policy: { method, responses, limits, long } }: Pass): number {
  const quick = method === 'GET' && !long && responses[200]?.mediaType === 'application/json';
  return quick ? QUICK_MS : limits.timeoutMs + BEYOND_MS;
}
