import type { Scope } from '../../../../shared/auth/scopes.ts';
import type { Connection } from '../../../../shared/plugins/connection.ts';
import { type Feed, openFeed } from '../../../../shared/rpc/feed.ts';
import { ExtensionComponents } from './extension-components.ts';
import type { Hosted } from './hosted.ts';

/** The class of `mavlink.write`: what sets the vehicle up or takes a protection away is no extension's. */
const MAY_FLY: readonly Scope[] = ['read', 'flight'];
/** Only the bytes of one frame, so that a rate can be judged: the longest frame of MAVLink 2, signed. */
const MAX_FRAME_BYTES = 280;

/** One connection of an extension after its `hello`, with what it follows. Nothing outlives the connection or its grant. */
export class Session {
  readonly host: Hosted;
  readonly #connection: Connection;
  readonly #topics = new Map<string, () => void>();
  readonly #components: ExtensionComponents;
  #telemetry: (() => void) | null = null;
  #detections: (() => void) | null = null;
  #reading: Feed | null = null;
  #writing: Feed | null = null;

  constructor(host: Hosted, connection: Connection) {
    this.host = host;
    this.#connection = connection;
    this.#components = new ExtensionComponents({
      extension: host.id,
      mavlinkSocket: host.mavlinkSocket,
      declared: host.components,
      grants: host.grants,
      onFrame: (component, frame) => connection.tell('mavlink_component', { component_id: component, frame }),
      onEnd: (component, reason) =>
        connection.tell('mavlink_component_ended', { component_id: component, reason }),
    });
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** The components of the vehicle that it plays. */
  get components(): Pick<ExtensionComponents, 'register' | 'send'> {
    return this.#components;
  }

  /** Replaces the topics that it hears. */
  subscribe(topics: readonly string[]): void {
    this.#unsubscribe();
    for (const topic of new Set(topics))
      this.#topics.set(
        topic,
        this.host.topics.subscribe(topic, (name, payload) => {
          if (this.host.grants().has('event.subscribe'))
            this.#connection.tell('event', { topic: name, payload });
        }),
      );
  }

  /** @param rate times a second; null: as it comes, at most ten @param fields members; null: all */
  followTelemetry(rate: number | null, fields: readonly string[] | null): void {
    this.#telemetry?.();
    const interval = rate === null ? 0 : 1000 / rate;
    let due = 0;
    this.#telemetry = this.host.vehicle.follow((telemetry) => {
      const now = performance.now();
      if (now < due || !this.host.grants().has('telemetry.read')) return;
      due = now - due > interval ? now + interval : due + interval;
      const body = telemetry();
      this.#connection.tell(
        'telemetry',
        fields === null
          ? body
          : Object.fromEntries(
              fields.filter((name) => Object.hasOwn(body, name)).map((name) => [name, body[name]]),
            ),
      );
    });
  }

  /** Each batch of detections that others make. */
  followDetections(): void {
    this.#detections ??= this.host.detections.subscribe((batch) => {
      if (this.host.grants().has('vision.detection.subscribe'))
        this.#connection.tell('vision.detection', batch);
    });
  }

  /** @param messages ids; null: all */
  followMavlink(messages: readonly number[] | null): void {
    this.#reading?.end();
    const feed = openFeed({
      path: this.host.mavlinkSocket,
      hello: {
        name: `extension ${this.host.id}`,
        write: false,
        force: false,
        msgs: messages === null || messages.length === 0 ? null : messages.join(','),
      },
      onFrame: (frame) => {
        if (this.#reading !== feed) return;
        if (!this.host.grants().has('mavlink.read'))
          this.#endReading(feed, 'the permission mavlink.read was taken back');
        else this.#connection.tell('mavlink', { frame: frame.bytes() });
      },
      onRefused: (reason) => this.#connection.tell('mavlink_ended', { reason }),
      onEnd: (reason) => this.#endReading(feed, reason),
    });
    this.#reading = feed;
  }

  /** Tells why, once. */
  #endReading(feed: Feed, reason: string): void {
    if (this.#reading !== feed) return;
    this.#reading = null;
    feed.end();
    this.#connection.tell('mavlink_ended', { reason });
  }

  /**
   * Passes the wire guard of svc-link, as frames of a ground station without the override do.
   * @throws Error if it was dropped, or cannot be a frame
   */
  sendMavlink(frame: Uint8Array): void {
    if (frame.length < 8 || frame.length > MAX_FRAME_BYTES)
      throw new Error(`frame: one MAVLink frame has 8 to ${MAX_FRAME_BYTES} bytes`);
    const feed = this.#writing ?? this.#openWriting();
    if (!feed.write(frame)) throw new Error('svc-link does not take it at the moment');
  }

  end(): void {
    this.#unsubscribe();
    this.#telemetry?.();
    this.#detections?.();
    this.#reading?.end();
    this.#writing?.end();
    this.#components.end();
    this.#connection.end();
  }

  /** A grant was revoked: what it allowed ends now, not only at the next call. */
  recheck(): void {
    const grants = this.host.grants();
    if (!grants.has('mavlink.write')) this.#writing?.end();
    if (!grants.has('mavlink.read')) this.#reading?.end();
    this.#components.recheck();
    if (!grants.has('telemetry.extend')) this.host.telemetry.clear();
    if (!grants.has('sensor.camera.register')) this.host.camera.end();
  }

  #openWriting(): Feed {
    const feed = openFeed({
      path: this.host.mavlinkSocket,
      // It hears nothing over this one: message 0 at most once in a thousand seconds is the least that can be asked for.
      // An extension is nobody for the rule of the pilot in command.
      hello: {
        name: `extension ${this.host.id}`,
        write: true,
        force: false,
        msgs: '0@0.001',
        client_id: null,
        scopes: MAY_FLY,
      },
      onFrame: () => undefined,
      onRefused: () => undefined,
      onEnd: () => {
        if (this.#writing === feed) this.#writing = null;
      },
    });
    this.#writing = feed;
    return feed;
  }

  #unsubscribe(): void {
    for (const end of this.#topics.values()) end();
    this.#topics.clear();
  }
}
