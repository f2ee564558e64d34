import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import {
  ChangedFile,
  objectUrl,
  type StoreAnswer,
  type StoreBody,
  StoreError,
  type StorePlace,
  type StoreRequest,
  storeRequest,
} from './s3-request.ts';
import { valueOf, valuesOf } from './xml.ts';

/** S3: at most 10 000 parts of an object, each of 5 MiB and more but for the last. */
const MAX_PARTS = 9000;
const MIN_PART_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const MEBIBYTE = 1024 * 1024;

/** A part of a file, or the whole of a small one. */
interface Part {
  readonly from: number;
  readonly bytes: number;
}

/** Both in hex; MD5 is what S3 answers with as the part's ETag. */
interface Sums {
  readonly md5: string;
  readonly sha256: string;
}

/** What is in the store under a key. */
interface StoredObject {
  readonly bytes: number;
  readonly etag: string;
}

/** A file on its way. */
export interface Sending {
  readonly key: string;
  readonly file: FileHandle;
  readonly bytes: number;
  /** Begun by an earlier attempt; null: none. */
  readonly uploadId: string | null;
  /** Must be on the disk before the first part is sent, so that a restart goes on with it. */
  readonly begun: (uploadId: string) => Promise<void>;
  /** Waits where the node may send only so much. */
  readonly pace: (bytes: number) => Promise<void>;
  /** Of the file, so far. */
  readonly sent: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Objects of one bucket. */
export class S3Store {
  readonly #place: StorePlace;
  readonly #wall: () => number;
  /** The store's clock minus ours, ms: a node without a clock of its own still signs what the store takes. */
  #skewMs = 0;

  /** @param wall ms since 1970 */
  constructor(place: StorePlace, wall: () => number) {
    this.#place = place;
    this.#wall = wall;
  }

  urlOf(key: string): string {
    return objectUrl(this.#place, key);
  }

  /** Null: there is none. @throws StoreError */
  async look(key: string, signal: AbortSignal): Promise<StoredObject | null> {
    const { status, headers } = await this.#ask({ method: 'HEAD', key, signal }).catch(
      async (error: unknown) => {
        // The answer to HEAD cannot say why; to GET it can.
        if (error instanceof StoreError && error.code !== null)
          await this.#ask({ method: 'GET', key, headers: { range: 'bytes=0-0' }, signal });
        throw error;
      },
    );
    if (status === 404) return null;
    return { bytes: Number(headers['content-length'] ?? -1), etag: unquoted(String(headers['etag'] ?? '')) };
  }

  /**
   * Puts a file there, or what is missing of it, and compares what the store then has.
   * @returns its ETag @throws StoreError; ChangedFile; the signal's reason
   */
  async put(sending: Sending): Promise<string> {
    const parts = partsOf(sending.bytes);
    const there = await this.look(sending.key, sending.signal);
    if (there !== null && there.bytes === sending.bytes) {
      const expected = await etagOf(sending, parts);
      if (there.etag === expected) return expected;
    }
    const etag = parts.length === 1 ? await this.#putWhole(sending) : await this.#putParts(sending, parts);
    const stored = await this.look(sending.key, sending.signal);
    if (stored === null || stored.bytes !== sending.bytes)
      throw new StoreError(
        'Different',
        `The store has ${stored?.bytes ?? 'none'} of ${sending.bytes} bytes.`,
      );
    // Each part was compared when it was taken, by its signed SHA-256. Some stores have ETags of their own.
    if (isMd5(stored.etag) && stored.etag !== etag)
      throw new StoreError('Different', 'The store has other bytes than were sent.');
    return stored.etag;
  }

  /** Of an attempt that nobody goes on with: its parts cost money. @throws StoreError */
  async abandon(key: string, uploadId: string, signal: AbortSignal): Promise<void> {
    await this.#ask({ method: 'DELETE', key, query: { uploadId }, signal }).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.code === 'NoSuchUpload')) throw error;
    });
  }

  async #putWhole(sending: Sending): Promise<string> {
    const { key, bytes, signal } = sending;
    const part = { from: 0, bytes };
    const sums = await sumsOf(sending, part);
    await this.#ask({ method: 'PUT', key, body: bodyOf(sending, part, sums), signal });
    sending.sent(bytes);
    return sums.md5;
  }

  async #putParts(sending: Sending, parts: readonly Part[]): Promise<string> {
    const { key, signal } = sending;
    const { id, have } = await this.#begin(sending);
    const sums: Sums[] = [];
    const list: string[] = [];
    let sent = 0;
    for (const [index, part] of parts.entries()) {
      const sum = await sumsOf(sending, part);
      sums.push(sum);
      const number = String(index + 1);
      let etag = sum.md5;
      if (have.get(number) !== etag) {
        const query = { partNumber: number, uploadId: id };
        const answer = await this.#ask({
          method: 'PUT',
          key,
          query,
          body: bodyOf(sending, part, sum),
          signal,
        });
        etag = unquoted(String(answer.headers['etag'] ?? etag)); // the store's own, where that is no MD5
      }
      if (!/^[\x21\x23-\x25\x27-\x3b\x3d\x3f-\x7e]+$/.test(etag))
        throw new StoreError(null, 'The store has ETags that are none.');
      list.push(`<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`);
      sent += part.bytes;
      sending.sent(sent);
    }
    const text = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`);
    await this.#ask({ method: 'POST', key, query: { uploadId: id }, body: bodyOfText(text), signal });
    return joined(sums);
  }

  /** The upload that was begun, with the MD5 of each part that the store has of it; or a new one. */
  async #begin(
    sending: Sending,
  ): Promise<{ readonly id: string; readonly have: ReadonlyMap<string, string> }> {
    const { key, signal, uploadId } = sending;
    if (uploadId !== null) {
      try {
        return { id: uploadId, have: await this.#parts(key, uploadId, signal) };
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'NoSuchUpload')) throw error;
      }
    }
    const { text } = await this.#ask({ method: 'POST', key, query: { uploads: '' }, signal });
    const id = valueOf(text, 'UploadId');
    if (id === null) throw new StoreError(null, 'The store does not say the id of an upload.');
    await sending.begun(id);
    return { id, have: new Map() };
  }

  async #parts(key: string, uploadId: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let marker = '0';
    do {
      const query = { uploadId, 'part-number-marker': marker };
      const { text } = await this.#ask({ method: 'GET', key, query, signal });
      for (const each of valuesOf(text, 'Part'))
        found.set(valueOf(each, 'PartNumber') ?? '', unquoted(valueOf(each, 'ETag') ?? ''));
      const next = valueOf(text, 'IsTruncated') === 'true' ? valueOf(text, 'NextPartNumberMarker') : null;
      if (next === null || Number(next) <= Number(marker)) break;
      marker = next;
    } while (found.size <= MAX_PARTS);
    return found;
  }

  async #ask(request: StoreRequest): Promise<StoreAnswer> {
    try {
      return await storeRequest(this.#place, request, this.#wall() + this.#skewMs);
    } catch (error) {
      if (!(error instanceof StoreError) || error.date === null) throw error;
      this.#skewMs = error.date - this.#wall();
      return storeRequest(this.#place, request, this.#wall() + this.#skewMs);
    }
  }
}

function partsOf(bytes: number): readonly Part[] {
  if (bytes <= MIN_PART_BYTES) return [{ from: 0, bytes }];
  const size = Math.max(MIN_PART_BYTES, Math.ceil(bytes / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  return Array.from({ length: Math.ceil(bytes / size) }, (_, index) => ({
    from: index * size,
    bytes: Math.min(size, bytes - index * size),
  }));
}

async function* piecesOf(file: FileHandle, { from, bytes }: Part): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, from + at);
    if (bytesRead === 0) throw new ChangedFile('it has become shorter');
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

async function sumsOf({ file, signal }: Sending, part: Part): Promise<Sums> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  for await (const piece of piecesOf(file, part)) {
    signal.throwIfAborted();
    md5.update(piece);
    sha256.update(piece);
  }
  return { md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

function bodyOf({ file, pace }: Sending, part: Part, { sha256 }: Sums): StoreBody {
  return {
    bytes: part.bytes,
    sha256,
    async *pieces() {
      for await (const piece of piecesOf(file, part)) {
        await pace(piece.length);
        yield piece;
      }
    },
  };
}

function bodyOfText(text: Buffer): StoreBody {
  return {
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
    async *pieces() {
      yield text;
    },
  };
}

async function etagOf(sending: Sending, parts: readonly Part[]): Promise<string> {
  const sums: Sums[] = [];
  for (const part of parts) sums.push(await sumsOf(sending, part));
  return parts.length === 1 ? (sums[0]?.md5 ?? '') : joined(sums);
}

/** The ETag of an object of several parts: the MD5 of their MD5s, and how many they are. */
function joined(sums: readonly Sums[]): string {
  const all: Hash = createHash('md5');
  for (const { md5 } of sums) all.update(Buffer.from(md5, 'hex'));
  return `${all.digest('hex')}-${sums.length}`;
}

function isMd5(etag: string): boolean {
  return /^[0-9a-f]{32}(?:-\d+)?$/.test(etag);
}

function unquoted(etag: string): string {
  return etag.replaceAll('"', '');
}
