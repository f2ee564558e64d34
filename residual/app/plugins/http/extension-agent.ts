import { Agent, type ClientRequestArgs } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { contained } from '../../../../shared/async/every.ts';
import { extensionSocket } from '../sandbox/extension-socket.ts';

const IDLE_MS = 30_000;
const MAX_SOCKETS = 16;

/** Connects to the socket that an extension has made, and to no other that it may have put in its place. */
export class ExtensionAgent extends Agent {
  readonly #path: string;

  constructor(path: string) {
    super({ keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 4, timeout: IDLE_MS });
    this.#path = path;
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    void this.#connect().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex), // Node's own type asks for both
    );
  }

  async #connect(): Promise<Duplex> {
    const found = await extensionSocket(this.#path);
    if (found === null) throw Object.assign(new Error('it does not listen'), { code: 'ENOENT' });
    const socket = connect({ path: found.path });
    // Once: a descriptor that is closed twice may be somebody else's by then.
    let held = true;
    const release = contained('socket of an extension', async () => {
      if (!held) return;
      held = false;
      await found.close();
    });
    socket.once('connect', release).once('close', release);
    socket.once('error', () => undefined); // whoever uses it is told too
    return socket;
  }
}
