import { Denial } from './denial.ts';
import type { Grant } from './gate/gate.ts';
import type { NodeClient, NodeRequest } from './planes/node-client.ts';
import type { Principal } from './principal.ts';

interface SendingOptions {
  readonly node: NodeClient;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly grant: Grant;
  /** Writes the intent into the audit. @throws Denial audit_unavailable; then nothing is sent */
  readonly announce: () => void;
}

/**
 * What one call sends to its node. Before the first write the call is announced in the audit and its confirmation is taken;
 * the confirmation is given back if nothing was carried out.
 */
export class Sending {
  readonly #options: SendingOptions;
  #beginning: Promise<void> | null = null;
  #begun = false;
  #done = false;
  #settled = false;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** Whether the node carried something out, or may have. */
  get done(): boolean {
    return this.#done;
  }

  /** @throws Denial */
  async ask(request: NodeRequest): Promise<unknown> {
    const { node, principal, signal, grant } = this.#options;
    if (request.method === 'GET') return node.json(request, principal, signal);
    this.#beginning ??= this.#begin();
    await this.#beginning;
    try {
      const answer = await node.json(
        { ...request, clientId: grant.clientId, code: grant.code },
        principal,
        signal,
      );
      this.#done = true;
      this.end(); // the call may go on waiting for the vehicle
      return answer;
    } catch (error) {
      this.#done ||= !(error instanceof Denial) || error.maybeDone;
      throw error;
    }
  }

  /** The call is over, or nothing more can change what becomes of its confirmation. */
  end(): void {
    if (!this.#begun || this.#settled) return;
    this.#settled = true;
    this.#options.grant.settle(this.#done);
  }

  async #begin(): Promise<void> {
    const { signal, grant, announce } = this.#options;
    if (signal.aborted) throw new Denial('cancelled', 'The call was cancelled; nothing was sent.');
    announce();
    await grant.take();
    this.#begun = true;
  }
}
