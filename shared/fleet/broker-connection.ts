import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
// Not the package's own entry, which also loads WebSockets and proxies.
import mqtt from 'mqtt/lib/client';
import { createWebSocketStream, WebSocket } from 'ws';
import { type Deferred, deferred } from '../async/deferred.ts';
import { every } from '../async/every.ts';
import { within } from '../async/within.ts';
import { messageOf } from '../errors.ts';
import { isBrokerUrl } from './broker-ways.ts';
import { callExpiry, MAX_PACKET_BYTES } from './told.ts';

export interface ConnectionLimits {
  /** TCP, TLS and the broker's welcome, ms; then each acknowledgement. */
  readonly connectMs: number;
  /** Without a word of the broker, ms, it is asked for one; after half as long again it counts as gone. */
  readonly keepaliveMs: number;
}

/** A broker that does not read gets no more telemetry. */
const MAX_UNSENT_BYTES = 256 * 1024;
/** DISCONNECT: another client has connected with the same certificate. Mosquitto just closes then. */
const SESSION_TAKEN_OVER = 0x8e;
/** PUBACK: nobody has subscribed to that; and from where on it is a refusal. */
const NO_SUBSCRIBERS = 16;
const REFUSED = 0x80;

/** What the broker keeps of what was said. */
export interface BrokerMessage {
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
}

/** How a topic is read. */
export interface SubscribeOptions {
  readonly qos: 0 | 1;
  /** Whether the broker says, also of what comes while one listens, whether it keeps it. */
  readonly rap?: boolean;
}

/** The broker's rules do not let this client publish that: it went nowhere. */
export class BrokerRefused extends Error {}

/** As whom, and where. PEM: the CA of the broker, the client's certificate and its key. */
interface ConnectionOptions {
  /** One of the broker's addresses. */
  readonly url: string;
  /** The name at the broker, which the certificate has too. */
  readonly clientId: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  readonly limits: ConnectionLimits;
  /** Messages that the broker may send before they are acknowledged. */
  readonly receiveMaximum: number;
  readonly will?: BrokerMessage;
  /** Whether an acknowledgement that does not come in time ends the connection, or is an error of its call alone. */
  readonly lateEnds: boolean;
}

interface ConnectionHooks {
  readonly connected: () => void;
  readonly message: (topic: string, payload: Buffer, retained: boolean) => void;
  /** Once. */
  readonly ended: (why: string) => void;
}

/**
 * One MQTT 5 connection of a node, a hub or a connector, from its TCP handshake to its end. A session is never kept: what is missed
 * meanwhile is missed, nothing is sent again over a later one, and that has the newest certificate.
 */
export class BrokerConnection {
  readonly #client: mqtt.default;
  readonly #options: ConnectionOptions;
  readonly #hooks: ConnectionHooks;
  readonly #watch: NodeJS.Timeout;
  /** What `send` has sent and the broker has not acknowledged, by its number. */
  readonly #sent = new Map<number, Deferred<boolean>>();
  #heardAt = performance.now();
  #connected = false;
  #why = '';
  #ended = false;

  /** @throws Error for an address, a certificate or a key that is none */
  constructor(options: ConnectionOptions, hooks: ConnectionHooks) {
    this.#options = options;
    this.#hooks = hooks;
    const { clientId, limits, receiveMaximum, will } = options;
    this.#client = new mqtt.default(opener(options), {
      protocolVersion: 5,
      clientId,
      clean: true,
      properties: { sessionExpiryInterval: 0, maximumPacketSize: MAX_PACKET_BYTES, receiveMaximum },
      keepalive: Math.ceil(limits.keepaliveMs / 1000),
      connectTimeout: limits.connectMs,
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      writeCache: false, // 8 MB, for faster headers
      ...(will === undefined
        ? {}
        : { will: { topic: will.topic, payload: Buffer.from(will.text), qos: 1, retain: will.retain } }),
    });
    this.#client.on('connect', () => {
      this.#connected = true;
      hooks.connected();
    });
    this.#client.on('message', (topic, payload, { retain }) => hooks.message(topic, payload, retain));
    this.#client.on('packetreceive', (packet) => {
      this.#heardAt = performance.now();
      if (packet.cmd === 'puback' && packet.messageId !== undefined)
        this.#acknowledged(packet.messageId, packet.reasonCode ?? 0);
    });
    this.#client.on('error', (error) => this.#note(messageOf(error)));
    this.#client.on('disconnect', ({ reasonCode }) => {
      this.#note(
        reasonCode === SESSION_TAKEN_OVER
          ? `another client has connected with the certificate of ${clientId}`
          : `the broker has ended the connection (reason ${reasonCode ?? 0})`,
      );
    });
    this.#client.on('close', () => this.#close('the connection to the broker has broken'));
    // The library watches too, but by an interval that the broker may have made longer.
    this.#watch = every(limits.keepaliveMs / 4, 'keep-alive', () => this.#look(limits.keepaliveMs));
  }

  /** The broker has welcomed it, and it has not ended. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Resolves when the broker has it. @throws Error if it refuses, is not there, or the connection ends before */
  async publish({ topic, text, retain }: BrokerMessage): Promise<void> {
    this.#check();
    await this.#answered(this.#client.publishAsync(topic, text, { qos: 1, retain }));
  }

  /** At most once, and not at all to a broker that is away or does not read. */
  publishOnce(topic: string, body: string | Uint8Array): void {
    if (!this.#connected || this.#client.stream.writableLength > MAX_UNSENT_BYTES) return;
    this.#client.publish(topic, typeof body === 'string' ? body : Buffer.from(body), { qos: 0 });
  }

  /**
   * Goes to whoever listens now, and is kept nowhere.
   * @param ms for how long it is of use, at the broker too
   * @returns whether anybody listens, when the broker has it. @throws BrokerRefused; Error if it is not there, does not answer, or the
   * connection ends before
   */
  async send(topic: string, payload: string, ms: number): Promise<boolean> {
    this.#check();
    const answer = deferred<boolean>();
    // What the library says of it comes after the packet, or after the connection, which both are seen here.
    this.#client.publish(topic, payload, { qos: 1, properties: callExpiry(ms) }, () => undefined);
    const id = this.#client.getLastMessageId();
    this.#sent.set(id, answer);
    try {
      return await this.#answered(answer.promise);
    } finally {
      this.#sent.delete(id);
      this.#client.removeOutgoingMessage(id);
    }
  }

  /** In this order, so that what is retained comes in it. @throws Error if the broker refuses one, or the connection ends before */
  async subscribe(
    topics: readonly string[],
    how: (topic: string) => SubscribeOptions = () => ({ qos: 1 }),
  ): Promise<void> {
    const asked = Object.fromEntries(topics.map((topic) => [topic, how(topic)] as const));
    await this.#answered(this.#client.subscribeAsync(asked));
  }

  /** @throws Error if the connection ends before the broker's answer */
  async unsubscribe(topics: readonly string[]): Promise<void> {
    await this.#answered(this.#client.unsubscribeAsync([...topics]));
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

  /** @throws Error */
  #check(): void {
    if (!this.#connected) throw new Error('the broker is away');
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    const { limits, lateEnds } = this.#options;
    const late = (): Error => {
      const why = 'the broker does not acknowledge what it gets';
      if (lateEnds) this.fail(why); // it lives, and yet is of no use
      return new Error(why);
    };
    return within(answer, limits.connectMs, late);
  }

  #acknowledged(id: number, reason: number): void {
    const answer = this.#sent.get(id);
    if (reason < REFUSED) answer?.resolve(reason !== NO_SUBSCRIBERS);
    else answer?.reject(new BrokerRefused(`the broker does not take it (reason ${reason})`));
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
    for (const answer of this.#sent.values()) answer.reject(new Error(this.#why));
    this.#client.end(true); // also rejects what else waits for the broker's word
    this.#hooks.ended(this.#why);
  }
}

/** @throws Error for an address that is none */
function opener({ ca, certificate: cert, key, url, limits }: ConnectionOptions): () => Duplex {
  const secure = { ca, cert, key, minVersion: 'TLSv1.2' } as const;
  if (isBrokerUrl(url, 'websocket'))
    return () => {
      // MQTT 5, section 6: binary frames, and this name of the protocol.
      const socket = new WebSocket(url, 'mqtt', {
        ...secure,
        handshakeTimeout: limits.connectMs,
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
