import type { IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { readBytes } from '../../../shared/http/body.ts';
import { parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { RELAY_CALLER_HEADER, stateCaller } from '../edge/relay.ts';
import type { BoundRadios } from './bound-radios.ts';
import type { RelayCalls } from './relay-calls.ts';
import { RelayAgent, type RelayPeer } from './tls.ts';

/** Keeps a connection warm (a new one costs three round trips) and notices the end of the radio. */
const PING_MS = 2000;
const PING_TIMEOUT_MS = 3000;
/** Without an answer for so long, everything open to the drone ends; TCP alone would try for a quarter of an hour. */
const LOST_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

interface RelayClientOptions {
  readonly ownId: string;
  readonly radios: BoundRadios;
  /** Where the drone of a slot listens. */
  readonly addressOf: (slot: number) => Omit<RelayPeer, 'secret'>;
  /** Called whenever a drone has answered, authenticated by the present key. */
  readonly onAnswer: (deviceId: string) => void;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What is known of a drone's relay. */
export interface RelayHealth {
  /** Since its last answer, ms; null if it never answered since this process began. */
  readonly silentMs: number | null;
  /** Round trip of the newest ping, ms. */
  readonly latencyMs: number | null;
}

interface Drone {
  readonly secret: Buffer;
  readonly sockets: Set<TLSSocket>;
  answeredAt: number | null;
  latencyMs: number | null;
  pinging: boolean;
  lost: boolean;
}

/** A ground station's side of the relay: the connections to its drones, and its own requests to them. */
export class RelayClient implements RelayCalls {
  readonly agent: Agent;
  readonly #options: RelayClientOptions;
  readonly #drones = new Map<string, Drone>();
  #timer: NodeJS.Timeout | null = null;
  #forget: (() => void) | null = null;

  constructor(options: RelayClientOptions) {
    this.#options = options;
    this.agent = this.#newAgent();
  }

  start(): void {
    const { radios } = this.#options;
    // With another key, or none, what is open was authenticated by a key that no longer holds.
    this.#forget = radios.onChange(() => {
      for (const [id, { secret }] of this.#drones) {
        if (radios.relaySecret(id)?.equals(secret) === true) continue;
        this.#cut(id);
        this.#drones.delete(id);
      }
    });
    const ping = (): void => {
      for (const { device_id: id } of radios.list()) this.#ping(id);
    };
    this.#timer = every(PING_MS, 'relay', ping);
    ping();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#forget?.();
    this.agent.destroy();
    for (const id of this.#drones.keys()) this.#cut(id);
  }

  isBound(deviceId: string): boolean {
    return this.#peerOf(deviceId) !== null;
  }

  health(deviceId: string): RelayHealth {
    const { answeredAt = null, latencyMs = null } = this.#drones.get(deviceId) ?? {};
    return { silentMs: answeredAt === null ? null : this.#options.now() - answeredAt, latencyMs };
  }

  #newAgent(): RelayAgent {
    return new RelayAgent({
      ownId: this.#options.ownId,
      peerOf: (id) => this.#peerOf(id),
      onSocket: (id, socket) => {
        const { sockets } = this.#drone(id);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      },
    });
  }

  async call(
    deviceId: string,
    { method, path, body, timeoutMs, fresh = false }: Parameters<RelayCalls['call']>[1],
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    if (!this.isBound(deviceId)) throw noDrone(deviceId);
    const signal = AbortSignal.timeout(timeoutMs);
    const text = body === undefined ? null : JSON.stringify(body);
    const agent = fresh ? this.#newAgent() : this.agent;
    try {
      const answer = await this.#send(
        {
          agent,
          host: deviceId,
          method,
          path,
          signal,
          headers: {
            host: 'drone',
            [RELAY_CALLER_HEADER]: stateCaller({ kind: 'local', id: 'ground-station', scopes: null }) ?? '',
            ...(text === null
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
          },
        },
        text,
      );
      const bytes = await readBytes(answer, MAX_ANSWER_BYTES);
      this.answered(deviceId);
      return { status: answer.statusCode ?? 0, body: parseJson(bytes.toString('utf8')) };
    } catch (error) {
      throw this.errorOf(error, deviceId, signal.aborted ? timeoutMs : null);
    } finally {
      if (fresh) agent.destroy();
    }
  }

  /** The answer to a request that came to nothing. @param lateMs the time that it had, null if that was not the reason */
  errorOf(error: unknown, deviceId: string, lateMs: number | null): ApiError {
    const { silentMs } = this.health(deviceId);
    const heard =
      silentMs === null
        ? 'It has not answered yet.'
        : `Its last answer was ${(silentMs / 1000).toFixed(1)} s ago.`;
    if (lateMs !== null)
      return new ApiError(
        'E_TIMEOUT',
        `The drone ${deviceId} did not answer within ${lateMs / 1000} s through the radio. ${heard} GET /api/wfb tells the state of the link.`,
      );
    this.#options.log.debug(`relay: ${deviceId}: ${messageOf(error)}`);
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `There is no connection to the drone ${deviceId} through the radio (${codeOf(error)}). ${heard} GET /api/wfb tells the state of the link.`,
      {},
      { 'retry-after': '1' },
    );
  }

  async #send(options: RequestOptions, text: string | null): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest(options);
      request.once('response', resolve).once('error', reject);
      request.end(text ?? undefined);
    });
  }

  #peerOf(deviceId: string): RelayPeer | null {
    const { radios, addressOf } = this.#options;
    const radio = radios.list().find(({ device_id: id }) => id === deviceId);
    const secret = radios.relaySecret(deviceId);
    return radio === undefined || secret === null ? null : { ...addressOf(radio.slot), secret };
  }

  #drone(id: string): Drone {
    let drone = this.#drones.get(id);
    if (drone === undefined) {
      const secret = this.#options.radios.relaySecret(id) ?? Buffer.alloc(0);
      drone = { secret, sockets: new Set(), answeredAt: null, latencyMs: null, pinging: false, lost: false };
      this.#drones.set(id, drone);
    }
    return drone;
  }

  /** The drone has answered something. */
  answered(id: string): void {
    const drone = this.#drone(id);
    drone.answeredAt = this.#options.now();
    this.#options.onAnswer(id);
    if (drone.lost) this.#options.log.info(`relay: ${id} answers again`);
    drone.lost = false;
  }

  #ping(id: string): void {
    const drone = this.#drone(id);
    const { now, log } = this.#options;
    if (drone.answeredAt !== null && !drone.lost && now() - drone.answeredAt > LOST_MS) {
      drone.lost = true;
      log.warn(`relay: ${id} has not answered for ${LOST_MS / 1000} s; what was open to it ends`);
      this.#cut(id);
    }
    if (drone.pinging) return;
    drone.pinging = true;
    const at = now();
    this.call(id, { method: 'GET', path: '/api/ping', timeoutMs: PING_TIMEOUT_MS })
      .then(() => {
        drone.latencyMs = now() - at;
      })
      .catch((error: unknown) => log.debug(`relay: ping: ${messageOf(error)}`))
      .finally(() => {
        drone.pinging = false;
      });
  }

  #cut(id: string): void {
    for (const socket of this.#drones.get(id)?.sockets ?? []) socket.destroy();
  }
}

export function noDrone(deviceId: string): ApiError {
  return new ApiError(
    'E_NOT_FOUND',
    `No radio of a drone ${deviceId} is bound to this ground station. GET /api/v1/ground-station/drones lists them.`,
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
}
