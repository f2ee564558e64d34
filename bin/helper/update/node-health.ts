import { messageOf } from '../../../shared/errors.ts';
import { requestNode } from '../../../shared/http/node-request.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';

const ASK_MS = 5000;
const CALM_EXITS: ReadonlySet<string> = new Set(['code 0', 'SIGTERM']);

export interface NodeProcess {
  readonly name: string;
  readonly pid: number;
  /** As the supervisor counts them. */
  readonly restarts: number;
  /** Whether its newest end was one that nobody had asked for. */
  readonly failed: boolean;
}

/** Who is restarted on purpose ends with 0, or by the signal that asks for it. */
function hasFailed(lastExit: unknown): boolean {
  return typeof lastExit === 'string' && !CALM_EXITS.has(lastExit);
}

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
    const processes = await this.processes(version);
    const { status } = await this.#ask('/readyz');
    if (status !== 200) throw new Error('it is not ready');
    return JSON.stringify(processes.map(({ name, pid }) => [name, pid]));
  }

  /** The processes of this version, which all run. @throws as `check` */
  async processes(version: string): Promise<readonly NodeProcess[]> {
    const runs = memberOf((await this.#ask('/api/version')).body, 'agent_version');
    if (runs !== version) throw new Error(`version ${String(runs)} answers`);
    const services = memberOf((await this.#ask('/api/services')).body, 'services');
    if (!Array.isArray(services)) throw new Error('it does not say which processes it has');
    const own = services.filter((service: unknown) => memberOf(service, 'kind') === 'process');
    if (own.length === 0) throw new Error('it says that it has no process');
    const down: unknown = own.find((service: unknown) => memberOf(service, 'state') !== 'running');
    if (down !== undefined)
      throw new Error(`${String(memberOf(down, 'name'))} is ${String(memberOf(down, 'state'))}`);
    return own.map((service: unknown) => ({
      name: String(memberOf(service, 'name')),
      pid: Number(memberOf(service, 'pid')),
      restarts: Number(memberOf(service, 'restarts') ?? 0),
      failed: hasFailed(memberOf(service, 'last_exit')),
    }));
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
