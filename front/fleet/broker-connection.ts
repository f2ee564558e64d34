import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
// Not the package's own entry, which also loads WebSockets and proxies.
import mqtt from 'mqtt/lib/client';
import { createWebSocketStream, WebSocket } from 'ws';
import { every } from '../../shared/async/every.ts';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import { isBrokerUrl } from '../../shared/fleet/broker-ways.ts';
import { MAX_PACKET_BYTES } from '../../shared/fleet/told.ts';
import type { FleetPlace } from '../../shared/rpc/fleet.ts';

export interface ConnectionLimits {
  /** TCP, TLS and the broker's welcome, ms; then each acknowledgement. */
  readonly connectMs: number;
  /** Without a word of the broker, ms, it is asked for one; after half as long again it counts as gone. */
  readonly keepaliveMs: number;
}

/** Messages that the broker may send before they are acknowledged. */
const RECEIVE_MAXIMUM = 20;
/** A broker that does not read gets no more telemetry. */
const MAX_UNSENT_BYTES = 256 * 1024;
/** DISCONNECT: another client has connected with the same certificate. Mosquitto just closes then. */
const SESSION_TAKEN_OVER = 0x8e;
/** PUBACK: nobody has subscribed to that. */
const GRANTED = 2;

/** What the broker keeps of what was said. */
export interface BrokerMessage {
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
}

interface ConnectionHooks {
  readonly connected: () => void;
  readonly message: (topic: string, payload: Buffer, retained: boolean) => void;
  /** Once. */
  readonly ended: (why: string) => void;
}

/** One MQTT 5 connection, from its TCP handshake to its end. A session is never kept: what the node misses, it misses. */
export class BrokerConnection {
  readonly #client: mqtt.default;
  readonly #hooks: ConnectionHooks;
  readonly #watch: NodeJS.Timeout;
  readonly #answerMs: number;
  #heardAt = performance.now();
  #connected = false;
  #why = '';
  #ended = false;

  /** @param url one of the place's brokers @throws Error for an address, a certificate or a key that is none */
  constructor(
    place: FleetPlace,
    url: string,
    will: BrokerMessage,
    limits: ConnectionLimits,
    hooks: ConnectionHooks,
  ) {
    this.#hooks = hooks;
    this.#answerMs = limits.connectMs;
    const open = opener(place, url, limits.connectMs);
    this.#client = new mqtt.default(open, {
      protocolVersion: 5,
      clientId: place.node,
      clean: true,
      properties: {
        sessionExpiryInterval: 0,
        maximumPacketSize: MAX_PACKET_BYTES,
        receiveMaximum: RECEIVE_MAXIMUM,
      },
      keepalive: Math.ceil(limits.keepaliveMs / 1000),
      connectTimeout: limits.connectMs,
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      will: { topic: will.topic, payload: Buffer.from(will.text), qos: 1, retain: will.retain },
    });
    this.#client.on('connect', () => {
      this.#connected = true;
      hooks.connected();
    });
    this.#client.on('message', (topic, payload, { retain }) => hooks.message(topic, payload, retain));
    this.#client.on('packetreceive', () => {
      this.#heardAt = performance.now();
    });
    this.#client.on('error', (error) => this.#note(messageOf(error)));
    this.#client.on('disconnect', ({ reasonCode }) => {
      this.#note(
        reasonCode === SESSION_TAKEN_OVER
          ? 'another client has connected with the certificate of this node'
          : `the broker has ended the connection (reason ${reasonCode ?? 0})`,
      );
    });
    this.#client.on('close', () => this.#close('the connection to the broker has broken'));
    // The library watches too, but by an interval that the broker may have made longer.
    this.#watch = every(limits.keepaliveMs / 4, 'fleet keep-alive', () => this.#look(limits.keepaliveMs));
  }

  /** Resolves when the broker has it. @throws Error if it refuses, or the connection ends before */
  async publish({ topic, text, retain }: BrokerMessage): Promise<void> {
    await this.#answered(this.#client.publishAsync(topic, text, { qos: 1, retain }));
  }

  /** At most once, and not at all to a broker that does not read. */
  publishOnce(topic: string, body: string | Uint8Array): void {
    if (!this.#connected || this.#ended || this.#client.stream.writableLength > MAX_UNSENT_BYTES) return;
    this.#client.publish(topic, typeof body === 'string' ? body : Buffer.from(body), { qos: 0 });
  }

  /** In this order, so that what is retained comes in it. @throws Error if the broker refuses one */
  async subscribe(topics: readonly string[]): Promise<void> {
    const granted = await this.#answered(this.#client.subscribeAsync([...topics], { qos: 1 }));
    const refused = granted.find(({ qos }) => qos > GRANTED);
    if (refused !== undefined) throw new Error(`the broker does not let this node read ${refused.topic}`);
  }

  /** @throws Error if the connection ends before the broker's answer */
  async unsubscribe(topic: string): Promise<void> {
    await this.#answered(this.#client.unsubscribeAsync(topic));
  }

  /** Ends it: with a word to the broker, which then does not publish the will, or as if it had broken. */
  async end(politely: boolean): Promise<void> {
    if (this.#ended) return;
    this.#note('ended');
    await this.#client.endAsync(!politely || !this.#connected);
    this.#close('ended');
  }

  /** As if it had broken, and for this reason. */
  fail(why: string): void {
    this.#note(why);
    this.#client.end(true);
    this.#close(why);
  }

  /** A broker that lives, and yet does not acknowledge, is of no use. */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    const late = (): Error => {
      this.fail('the broker does not acknowledge what it gets');
      return new Error(this.#why);
    };
    return within(answer, this.#answerMs, late);
  }

  #look(keepaliveMs: number): void {
    const silentMs = performance.now() - this.#heardAt;
    if (!this.#connected || silentMs < keepaliveMs) return;
    if (silentMs >= 1.5 * keepaliveMs) this.fail('the broker has gone silent');
    else this.#client.sendPing();
  }

  /** The first reason is the cause of the others. */
  #note(why: string): void {
    if (this.#why === '') this.#why = why;
  }

  #close(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#connected = false;
    clearInterval(this.#watch);
    this.#note(why);
    this.#client.end(true); // also rejects what waits for the broker's word
    this.#hooks.ended(this.#why);
  }
}

/** @throws Error for an address that is none */
function opener({ ca, certificate: cert, key }: FleetPlace, url: string, connectMs: number): () => Duplex {
  const secure = { ca, cert, key, minVersion: 'TLSv1.2' } as const;
  if (isBrokerUrl(url, 'websocket'))
    return () => {
      // MQTT 5, section 6: binary frames, and this name of the protocol.
      const socket = new WebSocket(url, 'mqtt', {
        ...secure,
        handshakeTimeout: connectMs,
        maxPayload: MAX_PACKET_BYTES,
        perMessageDeflate: false,
      });
      return createWebSocketStream(socket);
    };
  if (!isBrokerUrl(url, 'tls')) throw new Error(`${url} is no address of a broker`);
  const { hostname, port } = new URL(url);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const at = {
    host,
    port: port === '' ? 8883 : Number(port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
  // A message is several writes, and must not wait for the answer to the first.
  return () => connect({ ...at, ...secure }).setNoDelay(true);
}
