import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IceServer } from '../../../shared/rpc/video.ts';
import { TURN_LIFE_S, turnCredentials } from '../../../shared/video/turn-credentials.ts';

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
    // A name of its own each time: the server's quota of a user is that of one viewer, and not of all.
    const name = `${await this.#name()}-${randomBytes(4).toString('hex')}`;
    const expiry = wallClock() / 1000 + TURN_LIFE_S;
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
