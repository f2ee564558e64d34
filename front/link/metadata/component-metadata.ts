import { messageOf } from '../../../shared/errors.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { listOf, memberOf, recordOf } from '../../../shared/member.ts';
import { FTP_PRIORITY, type FtpClient } from '../ftp/ftp-client.ts';
import { isAnew, type Part, type SessionReason } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { readMetadataFile } from './metadata-file.ts';

// MAV_CMD
const REQUEST_MESSAGE = 512;
const FTP_SCHEME = 'mftp://';
const ASK_MS = 2000;
/** On a line that loses a fifth each way, 3 of 10 000 vehicles are taken for ones that do not say it. */
const ASKS = 8;
/** Wait after a failed download. */
const AGAIN_MS = 60_000;
const ATTEMPTS = 3;

/** One type of metadata (COMP_METADATA_TYPE), and what becomes of its file. */
export interface MetadataKind {
  readonly type: number;
  /** What is missing without it, for the log. */
  readonly lack: string;
  /** Whether the file with this checksum is here already: then it is not read again. */
  readonly has?: (crc: number) => Promise<boolean>;
  /** Takes the file as the vehicle has it; one whose path ends in `.xz` is packed. @throws Error if it cannot be used */
  readonly take: (file: Buffer, path: string, crc: number) => Promise<void>;
}

/** An entry of the table of contents. */
interface Entry {
  readonly type: number;
  readonly uri: string;
  /** 0: not given. */
  readonly crc: number;
}

interface ComponentMetadataOptions extends Speaking {
  readonly ftp: FtpClient;
  /** Whether something more urgent is being downloaded. */
  readonly isBusy: () => boolean;
}

type Stage =
  | { readonly kind: 'idle' }
  | { readonly kind: 'ask'; asks: number; at: number }
  /** A file is on its way, or being read. */
  | { readonly kind: 'file'; readonly cancel: () => void };

/**
 * The vehicle's own descriptions: COMPONENT_METADATA names a table of contents, which names a file for each type; all are read
 * over MAVLink FTP (https://mavlink.io/en/services/component_information.html). Internet links are not followed.
 */
export class ComponentMetadata implements Part {
  readonly #options: ComponentMetadataOptions;
  #wanted: readonly MetadataKind[] = [];
  /** Types that are here, or that the vehicle does not have, or that failed too often. */
  readonly #settled = new Set<number>();
  #contents: readonly Entry[] | null = null;
  #stage: Stage = { kind: 'idle' };
  #attempts = 0;
  #failedAt = -Infinity;

  constructor(options: ComponentMetadataOptions) {
    this.#options = options;
    options.vehicle.messages.on('metadataUri', (uri) => this.#onUri(uri));
  }

  /** Asks for a type, once in the vehicle's session. */
  want(kind: MetadataKind): void {
    if (this.#settled.has(kind.type)) return;
    if (!this.#wanted.some(({ type }) => type === kind.type)) this.#wanted = [...this.#wanted, kind];
  }

  /** After a reboot its firmware may be another one. */
  onSession(reason: SessionReason): void {
    if (!isAnew(reason)) return;
    if (this.#stage.kind === 'file') this.#stage.cancel();
    this.#stage = { kind: 'idle' };
    this.#wanted = [];
    this.#settled.clear();
    this.#contents = null;
    this.#attempts = 0;
    this.#failedAt = -Infinity;
  }

  /** COMPONENT_METADATA. */
  #onUri(uri: string): void {
    if (this.#stage.kind !== 'ask') return;
    this.#read(uri, async (file, path) => {
      this.#contents = entriesOf(await readMetadataFile(file, path));
    });
  }

  tick(): void {
    const { clock, vehicle, encoder, ask, isBusy } = this.#options;
    const { target } = vehicle;
    const stage = this.#stage;
    const now = clock.now();
    const [kind] = this.#wanted;
    if (kind === undefined || stage.kind === 'file' || target === null || !vehicle.alive) return;
    if (stage.kind === 'idle') {
      if (isBusy() || this.#attempts >= ATTEMPTS || now - this.#failedAt < AGAIN_MS) return;
      if (this.#contents !== null) {
        this.#fetch(kind, this.#contents);
        return;
      }
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
    ask(encoder.commandLong(target, REQUEST_MESSAGE, [MSG.COMPONENT_METADATA, 0, 0, 0, 0, 0, 0], 0));
  }

  #fetch(kind: MetadataKind, contents: readonly Entry[]): void {
    const entry = contents.find(({ type }) => type === kind.type);
    if (entry === undefined) {
      this.#options.log.info(`${kind.lack}: the vehicle has no description of them`);
      this.#got(kind);
      return;
    }
    const { uri, crc } = entry;
    const read = (): void =>
      this.#read(uri, async (file, path) => {
        await kind.take(file, path, crc);
        this.#got(kind);
      });
    if (kind.has === undefined || crc === 0) {
      read();
      return;
    }
    const stage: Stage = { kind: 'file', cancel: () => undefined };
    this.#stage = stage;
    kind
      .has(crc)
      .then((has) => {
        if (this.#stage !== stage) return;
        this.#stage = { kind: 'idle' };
        if (has) this.#got(kind);
        else read();
      })
      .catch((error: unknown) => {
        if (this.#stage === stage) this.#fail(messageOf(error));
      });
  }

  #got(kind: MetadataKind): void {
    this.#settled.add(kind.type);
    this.#wanted = this.#wanted.filter((each) => each !== kind);
    this.#attempts = 0;
  }

  /** Reads one file; a failure of `then` is the transfer's failure. */
  #read(uri: string, then: (file: Buffer, path: string) => Promise<void>): void {
    // A path on the vehicle; `[;comp=1]` in front of it names a component.
    const path = uri.startsWith(FTP_SCHEME) ? uri.slice(FTP_SCHEME.length).replace(/^\[;comp=\d+\]/, '') : '';
    if (path === '') {
      this.#fail(`its metadata is not on board: ${uri}`);
      return;
    }
    const stage: { readonly kind: 'file'; cancel: () => void } = { kind: 'file', cancel: () => undefined };
    this.#stage = stage;
    stage.cancel = this.#options.ftp.read(path, FTP_PRIORITY.metadata, (file) => {
      const used = file === null ? Promise.reject(new Error('it could not be read')) : then(file, path);
      used.then(
        () => {
          if (this.#stage === stage) this.#stage = { kind: 'idle' };
        },
        (error: unknown) => {
          if (this.#stage === stage) this.#fail(`${path}: ${messageOf(error)}`);
        },
      );
    });
  }

  #fail(why: string): void {
    const [kind] = this.#wanted;
    if (kind !== undefined) this.#options.log.warn(`${kind.lack}: ${why}`);
    this.#stage = { kind: 'idle' };
    if (this.#contents !== null) this.#attempts++; // the table of contents counts its own
    this.#failedAt = this.#options.clock.now();
    if (this.#attempts < ATTEMPTS || kind === undefined) return;
    // A file that cannot be used must not keep the others away.
    this.#got(kind);
    if (this.#wanted.length > 0) this.#failedAt = -Infinity;
  }
}

/** @throws Error if it is no table of contents */
function entriesOf(content: unknown): readonly Entry[] {
  const list = memberOf(content, 'metadataTypes');
  if (!Array.isArray(list)) throw new Error('it is no table of contents');
  return listOf(list).flatMap((each) => {
    const { type, uri, fileCrc } = recordOf(each);
    if (typeof type !== 'number' || typeof uri !== 'string') return [];
    const crc = typeof fileCrc === 'number' && Number.isSafeInteger(fileCrc) ? fileCrc : 0;
    return [{ type, uri, crc: crc >>> 0 }];
  });
}
