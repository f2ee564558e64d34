import { ApiError, messageOf } from '../../../shared/errors.ts';
import { parseJson } from '../../../shared/member.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import { checked } from '../../../shared/schemas/checked.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';
import type { RegistryModel } from '../../../shared/schemas/vision.ts';
import { registryList } from '../../../shared/schemas/vision.ts';
import { ask, DownloadFailed, download } from '../download.ts';
import type { Incoming } from './model-store.ts';

const LIST_MS = 5000;
const FILE_MS = 300_000;
const MAX_LIST_BYTES = 1024 * 1024;
/** How long a list holds, and how long a failure does: a registry that is away would else cost each reader 5 s. */
const FRESH_MS = 60_000;

interface Listed {
  readonly models: readonly RegistryModel[];
  readonly problem: string | null;
}
const NONE: Listed = { models: [], problem: null };

/** The operator's list of models (`vision.registry`), and the files on its host. */
export class ModelRegistry {
  readonly #address: URL | null;
  readonly #now: () => number;
  #asking: Promise<Listed> | null = null;
  #askedAt = -Infinity;
  #last: Listed = NONE;
  /** The list that its server gave this ETag, so that it is not sent again. */
  #kept: { readonly etag: string; readonly models: readonly RegistryModel[] } | null = null;

  /** @param address empty: none @param now monotonic, ms */
  constructor(address: string, now: () => number) {
    this.#address = URL.parse(address);
    this.#now = now;
  }

  /** Never throws: without a list there is a problem, in words. */
  async list(): Promise<Listed> {
    if (this.#address === null) return NONE;
    if (this.#now() - this.#askedAt < FRESH_MS) return this.#last;
    this.#asking ??= this.#ask(this.#address).finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /**
   * Stores a file of the registry's host.
   * @throws ApiError E_INVALID_VALUE for another host, E_UPSTREAM, E_DISK_FULL and E_TOO_LARGE; also if its SHA-256 is another
   */
  async fetch(url: string, sha256: string, to: Incoming, progress: OnProgress): Promise<void> {
    const { path, maxBytes, tooLarge } = to;
    const signal = AbortSignal.timeout(FILE_MS);
    const allowed = (address: string): URL => this.#allowed(address);
    const found = await download({ url, allowed, signal, path, maxBytes, tooLarge, progress }).catch(
      (error: unknown) => {
        throw error instanceof DownloadFailed ? new ApiError('E_UPSTREAM', error.message) : error;
      },
    );
    if (found !== sha256.toLowerCase())
      throw invalidUrl('/sha256', 'What came is not what sha256 says. Nothing was stored');
  }

  async #ask(address: URL): Promise<Listed> {
    try {
      this.#last = { models: await this.#load(address), problem: null };
    } catch (error) {
      this.#last = { models: [], problem: messageOf(error) };
    }
    this.#askedAt = this.#now();
    return this.#last;
  }

  async #load(address: URL): Promise<readonly RegistryModel[]> {
    const answer = await ask({
      url: address.href,
      allowed: (text) => this.#allowed(text),
      signal: AbortSignal.timeout(LIST_MS),
      headers: this.#kept === null ? {} : { 'if-none-match': this.#kept.etag },
    });
    if (answer.status === 304 && this.#kept !== null) {
      await answer.body?.cancel();
      return this.#kept.models;
    }
    const text = await bounded(answer);
    const unfit = (fault: string): Error => new Error(`${address.href} has no list of models: ${fault}`);
    const { models } = checked(validatorOf(registryList), parseJson(text), unfit);
    const whole = models.map((model) => ({
      ...model,
      url: URL.parse(model.url, address.href)?.href ?? model.url,
    }));
    const etag = answer.headers.get('etag');
    this.#kept = etag === null ? null : { etag, models: whole };
    return whole;
  }

  /** No other host, and never less secure than the list itself. */
  #allowed(text: string): URL {
    const url = URL.parse(text);
    const home = this.#address;
    if (home === null) throw invalidUrl('/url', 'No registry of models is configured (vision.registry)');
    const secure = url?.protocol === 'https:' || url?.protocol === home.protocol;
    if (url === null || !secure || url.username !== '' || url.password !== '')
      throw invalidUrl(
        '/url',
        `The address of a model is ${home.protocol}//${home.host}/…, without a password`,
      );
    if (url.host !== home.host)
      throw invalidUrl('/url', `Models come from ${home.host} only (vision.registry), not from ${url.host}`);
    return url;
  }
}

function invalidUrl(path: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${message}.`, { errors: [{ path, message }] });
}

async function bounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_LIST_BYTES) throw new Error(`the list of models is longer than ${MAX_LIST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
