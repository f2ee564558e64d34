import { readFile } from 'node:fs/promises';
import type { IceServer } from '../../../shared/rpc/video.ts';
import { turnCredentials } from '../../../shared/video/turn-credentials.ts';

/** One entry of `video.ice.servers`. */
interface ConfiguredServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
  readonly secret?: string;
}

interface IceServersOptions {
  readonly configured: readonly ConfiguredServer[];
  /** Those that the node's hub gave it; empty for none. */
  readonly ofHub: () => Promise<readonly IceServer[]>;
  /** The file with the node's own id, which a TURN server's log then names. */
  readonly deviceId: string;
  /** Unix ms. */
  readonly wallClock: () => number;
}

/** Seconds. An allocation outlives it: the server looks at the time only when it is asked for one. */
const LIFE_S = 3600;

/**
 * The STUN and TURN servers, each with credentials that are good now: those that are made from a secret are made anew at each call,
 * so that node and viewers each have their own.
 */
export class IceServers {
  readonly #options: IceServersOptions;

  constructor(options: IceServersOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly IceServer[]> {
    const { configured, ofHub, wallClock } = this.#options;
    if (configured.length === 0) return ofHub();
    const name = await this.#name();
    const expiry = wallClock() / 1000 + LIFE_S;
    return configured.map(({ urls, username, credential, secret }) => ({
      urls,
      ...(secret === undefined
        ? { username: username ?? null, credential: credential ?? null }
        : turnCredentials(secret, name, expiry)),
    }));
  }

  /** svc-control makes the id, and may not have come that far. */
  async #name(): Promise<string> {
    const text = await readFile(this.#options.deviceId, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return /^[0-9a-f]{12}$/.exec(text.trim())?.[0] ?? 'svc';
  }
}
