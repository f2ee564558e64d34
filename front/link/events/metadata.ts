import { messageOf } from '../../../shared/errors.ts';
import type { FtpMessage } from '../../../shared/mavlink/decode.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import { FtpFile } from '../params/ftp-file.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { unxz } from './xz.ts';

// MAV_CMD
const REQUEST_MESSAGE = 512;
/** COMP_METADATA_TYPE_EVENTS */
const TYPE_EVENTS = 4;
const FTP_SCHEME = 'mftp://';
const ASK_MS = 2000;
const ASKS = 3;
/** Wait after a failed download. */
const AGAIN_MS = 60_000;
const ATTEMPTS = 3;
/** PX4's file is 160 KB of JSON; the limit protects our memory. */
const MAX_JSON_BYTES = 2 * 1024 * 1024;

export interface MetadataOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly send: (bytes: Buffer) => void;
  /** Whether no other file transfer from the vehicle is running. */
  readonly free: () => boolean;
  readonly onEvents: (file: unknown) => void;
}

type Stage =
  | { readonly kind: 'idle' }
  | { readonly kind: 'ask'; asks: number; at: number }
  | { readonly kind: 'file'; readonly file: FtpFile };

/**
 * The vehicle's own description of its events: COMPONENT_METADATA names a table of contents, which names the events file; both
 * are read over MAVLink FTP (https://mavlink.io/en/services/component_information.html). Internet links are not followed.
 */
export class Metadata {
  readonly #options: MetadataOptions;
  #stage: Stage = { kind: 'idle' };
  #wanted = false;
  #attempts = 0;
  #failedAt = -Infinity;

  constructor(options: MetadataOptions) {
    this.#options = options;
  }

  /** The vehicle sends events. */
  want(): void {
    this.#wanted = true;
  }

  /** It is another vehicle, or its firmware may have changed. */
  forget(): void {
    if (this.#stage.kind === 'file') this.#stage.file.cancel();
    this.#stage = { kind: 'idle' };
    this.#wanted = false;
    this.#attempts = 0;
    this.#failedAt = -Infinity;
  }

  /** COMPONENT_METADATA. */
  onUri(uri: string): void {
    if (this.#stage.kind !== 'ask') return;
    this.#read(uri, (contents) => {
      const list: unknown = (contents as { readonly metadataTypes?: unknown }).metadataTypes;
      const found = (Array.isArray(list) ? (list as readonly unknown[]) : []).find(
        (entry) =>
          typeof entry === 'object' && entry !== null && (entry as { type?: unknown }).type === TYPE_EVENTS,
      ) as { readonly uri?: unknown } | undefined;
      if (typeof found?.uri !== 'string') throw new Error('it has no description of its events');
      this.#read(found.uri, (events) => {
        this.#wanted = false;
        this.#stage = { kind: 'idle' };
        this.#options.onEvents(events);
      });
    });
  }

  onFtp(message: FtpMessage): void {
    if (this.#stage.kind === 'file') this.#stage.file.onMessage(message);
  }

  /** Called a few times a second. */
  tick(): void {
    const { clock, vehicle, free, encoder, send } = this.#options;
    const stage = this.#stage;
    const now = clock.now();
    const { target } = vehicle;
    if (!this.#wanted || target === null || !vehicle.alive) return;
    if (stage.kind === 'file') {
      stage.file.tick();
      return;
    }
    if (stage.kind === 'idle') {
      if (!free() || this.#attempts >= ATTEMPTS || now - this.#failedAt < AGAIN_MS) return;
      this.#attempts++;
      this.#stage = { kind: 'ask', asks: 0, at: -Infinity };
      return;
    }
    if (now - stage.at < ASK_MS) return;
    if (stage.asks >= ASKS) {
      this.#fail('it does not say where its metadata is');
      return;
    }
    stage.asks++;
    stage.at = now;
    send(encoder.commandLong(target, REQUEST_MESSAGE, [MSG.COMPONENT_METADATA, 0, 0, 0, 0, 0, 0], 0));
  }

  #read(uri: string, then: (content: unknown) => void): void {
    // A path on the vehicle; `[;comp=1]` in front of it names a component.
    const path = uri.startsWith(FTP_SCHEME) ? uri.slice(FTP_SCHEME.length).replace(/^\[;comp=\d+\]/, '') : '';
    if (path === '') {
      this.#fail(`its metadata is not on board: ${uri}`);
      return;
    }
    const file = new FtpFile({
      ...this.#options,
      path,
      onEnd: (bytes) => {
        const stage = this.#stage;
        parse(path, bytes)
          .then((content) => {
            if (this.#stage === stage) then(content);
          })
          .catch((error: unknown) => {
            if (this.#stage === stage) this.#fail(`${path}: ${messageOf(error)}`);
          });
      },
    });
    this.#stage = { kind: 'file', file };
    file.start();
  }

  #fail(why: string): void {
    this.#options.log.warn(`events of the vehicle are not known by name: ${why}`);
    this.#stage = { kind: 'idle' };
    this.#failedAt = this.#options.clock.now();
  }
}

async function parse(path: string, bytes: Buffer | null): Promise<unknown> {
  if (bytes === null) throw new Error('it could not be read');
  const json = path.endsWith('.xz') ? await unxz(bytes, MAX_JSON_BYTES) : bytes;
  return JSON.parse(json.toString('utf8')) as unknown;
}
