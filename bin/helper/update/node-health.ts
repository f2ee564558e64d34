import { messageOf } from '../../../shared/errors.ts';
import { requestNode } from '../../../shared/http/node-request.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';

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
    const services = memberOf((await this.#ask('/api/services')).body, 'services');
    if (!Array.isArray(services)) throw new Error('it does not say which processes it has');
    const own = services.filter((service: unknown) => memberOf(service, 'kind') === 'process');
    if (own.length === 0) throw new Error('it says that it has no process');
    const down: unknown = own.find((service: unknown) => memberOf(service, 'state') !== 'running');
    if (down !== undefined)
      throw new Error(`${String(memberOf(down, 'name'))} is ${String(memberOf(down, 'state'))}`);
    return JSON.stringify(
      own.map((service: unknown) => [memberOf(service, 'name'), memberOf(service, 'pid')]),
    );
  }

  async #ask(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const { status, bytes } = await requestNode(
      { socketPath: this.#socket },
      { method: 'GET', path, headers: {}, timeoutMs: ASK_MS },
    ).catch((error: unknown) => {
      throw new Error(`it does not answer (${messageOf(error)})`, { cause: error });
    });
    try {
      return { status, body: parseJson(bytes.toString()) };
    } catch (error) {
      throw new Error('it answers something that is no JSON', { cause: error });
    }
  }
}
