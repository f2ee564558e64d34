import { messageOf } from '../../../shared/errors.ts';
import { requestNode } from '../../../shared/http/node-request.ts';
import { memberOf } from '../../../shared/member.ts';

const ASK_MS = 5000;

/** How the node is, asked at its control.sock. */
export class NodeHealth {
  readonly #socket: string;

  constructor(controlSocket: string) {
    this.#socket = controlSocket;
  }

  /** What it says of the vehicle; null if it does not answer. */
  async armed(): Promise<unknown> {
    const status = await this.#ask('/api/status').catch(() => null); // that is the answer
    return status === null ? null : memberOf(status.body, 'armed');
  }

  /**
   * Whether this version is ready, with all of its processes.
   * @returns which processes these are, so that one that was started again is another answer
   * @throws Error with half a sentence of what is wrong
   */
  async check(version: string): Promise<string> {
    const runs = memberOf((await this.#ask('/api/version')).body, 'agent_version');
    if (runs !== version) throw new Error(`version ${String(runs)} answers`);
    const { status } = await this.#ask('/readyz');
    if (status !== 200) throw new Error('it is not ready');
    const { services } = (await this.#ask('/api/services')).body as {
      readonly services: readonly Readonly<Record<string, unknown>>[];
    };
    const own = services.filter(({ kind }) => kind === 'process');
    const down = own.find(({ state }) => state !== 'running');
    if (down !== undefined) throw new Error(`${String(down['name'])} is ${String(down['state'])}`);
    return JSON.stringify(own.map(({ name, pid }) => [name, pid]));
  }

  async #ask(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const { status, bytes } = await requestNode(
      { socketPath: this.#socket },
      { method: 'GET', path, headers: {}, timeoutMs: ASK_MS },
    ).catch((error: unknown) => {
      throw new Error(`it does not answer (${messageOf(error)})`, { cause: error });
    });
    return { status, body: JSON.parse(bytes.toString()) as unknown };
  }
}
