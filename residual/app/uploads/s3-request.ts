import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { AwsV4Signer } from 'aws4fetch';
import { deferred } from '../../../shared/async/deferred.ts';
import { nearGuard } from '../../../shared/auth/asked-address.ts';
import { messageOf } from '../../../shared/errors.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { valueOf } from './xml.ts';

/** A store that speaks S3, and who we are to it. Buckets are in the path, which every such store understands. */
export interface StorePlace {
  /** `https://host[:port]` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `security.near_hosts` */
  readonly nearHosts: readonly string[];
}

/** What is sent, and its SHA-256 in hex: signed, so that the store refuses anything else. */
export interface StoreBody {
  readonly bytes: number;
  readonly sha256: string;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export interface StoreRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Of the object. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: StoreBody;
  readonly signal: AbortSignal;
}

export interface StoreAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Nothing goes to or comes from the store for so long, ms: it counts as gone. */
const SILENT_MS = 30_000;
/** From the last byte of a request to the last of its answer: a store that puts many parts together takes its time. */
const ANSWER_MS = 300_000;
/** S3 takes a quarter of an hour. */
const MAX_SKEW_MS = 5 * 60_000;
const MAX_ANSWER_BYTES = 1_000_000;
const NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** It is not the file any more that was looked at. */
export class ChangedFile extends Error {}

/** The store has refused, or there is none. */
export class StoreError extends Error {
  /** Of S3, as `NoSuchUpload`; null where no store has answered. */
  readonly code: string | null;
  /** The store's time, ms since 1970, where it did not take ours. */
  readonly date: number | null;

  constructor(
    code: string | null,
    message: string,
    more: { readonly date?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.date = more.date ?? null;
  }
}

/** Where an object is. */
export function objectUrl(place: Pick<StorePlace, 'endpoint' | 'bucket'>, key: string): string {
  return `${place.endpoint}/${[place.bucket, ...key.split('/')].map(encodeURIComponent).join('/')}`;
}

/**
 * One signed request (AWS Signature Version 4). @param date what the store takes for now, ms since 1970
 * @throws StoreError for anything but 2xx and, of HEAD, 404; the signal's reason
 */
export async function storeRequest(
  place: StorePlace,
  { method, key, query, headers, body, signal }: StoreRequest,
  date: number,
): Promise<StoreAnswer> {
  const search = new URLSearchParams(query).toString();
  const signer = new AwsV4Signer({
    method,
    url: `${objectUrl(place, key)}${search === '' ? '' : `?${search}`}`,
    headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? NOTHING },
    accessKeyId: place.accessKeyId,
    secretAccessKey: place.secretAccessKey,
    service: 's3',
    region: place.region,
    datetime: new Date(date).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  const sent = { ...Object.fromEntries(signed.headers), 'content-length': String(body?.bytes ?? 0) };
  const answer = await send(signed.url, method, sent, body, signal, lookupOf(signed.url, place));
  const is404 = method === 'HEAD' && answer.status === 404;
  if ((answer.status >= 200 && answer.status < 300 && !isError(answer)) || is404) return answer;
  throw refusalOf(place, answer, date);
}

/** An answer of 200 may say in its body that it went wrong: the store began to answer before it knew. */
function isError({ text }: StoreAnswer): boolean {
  return valueOf(text, 'Error') !== null;
}

/** @throws StoreError for an address that is not asked */
function lookupOf({ hostname, host }: URL, { nearHosts }: StorePlace): LookupFunction {
  try {
    return nearGuard(hostname, nearHosts);
  } catch (error) {
    throw new StoreError(null, `${host} cannot be reached: ${messageOf(error)}.`, { cause: error });
  }
}

async function send(
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: StoreBody | undefined,
  signal: AbortSignal,
  lookup: LookupFunction,
): Promise<StoreAnswer> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = deferred<StoreAnswer>();
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
  const sending = request(url, { method, headers, signal, lookup, timeout: SILENT_MS }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      text += piece;
      if (text.length > MAX_ANSWER_BYTES)
        response.destroy(new StoreError(null, 'The store answers too much.'));
    });
    response.once('error', reject);
    response.once('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
    );
  });
  let late: NodeJS.Timeout | undefined;
  sending.once('finish', () => {
    late = setTimeout(() => sending.destroy(new StoreError(null, `${url.host} does not answer.`)), ANSWER_MS);
  });
  sending.once('timeout', () => sending.destroy(new StoreError(null, `${url.host} has gone silent.`)));
  sending.once('error', reject);
  // A file that ends early; what the connection says itself has been heard already.
  pipeline(body?.pieces() ?? [], sending).catch((error: unknown) =>
    sending.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StoreError || error instanceof ChangedFile) throw error;
    throw new StoreError(null, `${url.host} cannot be reached: ${messageOf(error)}.`, { cause: error });
  } finally {
    clearTimeout(late);
    sending.destroy();
  }
}

/** Refusals that a person can do something about, in their words. */
function refusalOf(
  { bucket, region }: StorePlace,
  { status, text, headers }: StoreAnswer,
  date: number,
): StoreError {
  const code = valueOf(text, 'Code');
  const said = plainText(valueOf(text, 'Message') ?? '').slice(0, 200);
  const why = (): string => {
    switch (code ?? status) {
      case 'InvalidAccessKeyId':
      case 'SignatureDoesNotMatch':
      case 'AccessDenied':
      case 403:
        return `The store refuses the access key (${code ?? status}).`;
      case 'RequestTimeTooSkewed':
        return "The store does not take this node's time.";
      case 'NoSuchBucket':
        return `The store has no bucket ${bucket}.`;
      case 'AuthorizationHeaderMalformed':
      case 'PermanentRedirect':
      case 301:
        return `The bucket ${bucket} is not in the region ${region}.`;
      case 'XMinioStorageFull':
      case 'QuotaExceeded':
      case 507:
        return 'The store is full.';
      default:
        return `The store answered ${status}${code === null ? '' : ` ${plainText(code).slice(0, 64)}`}${said === '' ? '.' : `: ${said}`}`;
    }
  };
  // An answer to HEAD has no body that says so.
  const theirs = Date.parse(String(headers['date']));
  const isSkewed = status === 403 && Math.abs(theirs - date) > MAX_SKEW_MS;
  return new StoreError(code ?? String(status), why(), isSkewed ? { date: theirs } : {});
}
