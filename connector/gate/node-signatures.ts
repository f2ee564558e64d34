import { createHash } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { CODE_PATTERN } from '../../shared/operator/operator-files.ts';
import { Denial } from '../denial.ts';
import { maskArguments } from '../mask-arguments.ts';
import { type Ask, askOf } from '../planes/ask.ts';
import type { NodeClient } from '../planes/node-client.ts';
import type { Principal } from '../principal.ts';
import type { Arguments, Tool } from '../tools/tool.ts';
import type { BoundCall } from './call-hash.ts';

/** More than a person could answer; the oldest are forgotten, and asked again. */
const MAX_FILED = 64;
const LOOK_MS = 1000;

/** How a client shows its user a page. */
export interface Visit {
  /** What the user did with the address that they were given; null: they have not been asked yet. */
  readonly answer: 'accept' | 'decline' | null;
  readonly signal: AbortSignal;
  readonly waits: (message: string) => void;
}

interface Asked {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly principal: Principal;
  readonly node: NodeClient;
  /** What the signature covers. */
  readonly bound: BoundCall;
}

type State = 'waiting' | 'signed' | 'refused' | 'gone';

interface Filed {
  readonly code: string;
  readonly url: string;
}

/** What becomes of a call that needs a signature. */
type AtNode =
  | { readonly kind: 'visit'; readonly url: string; readonly message: string }
  | { readonly kind: 'signed'; readonly take: () => Promise<void> };

/**
 * Signatures of persons on a page of the node (docs/contract/connector.md#the-gate). The node is asked whether somebody signed, and uses the
 * signature up; this only remembers what waits where, by caller and call. Whatever it cannot find out is no signature.
 */
export class NodeSignatures {
  readonly #lookMs: number;
  readonly #filed = new Map<string, Filed>();

  /** @param lookMs how often the node is asked while somebody looks */
  constructor(lookMs = LOOK_MS) {
    this.#lookMs = lookMs;
  }

  /**
   * @param summary what the call would do, in words; asked only where the call is new
   * @returns null where the node has no such page, or takes no more calls: another way is needed
   * @throws Denial confirm_required where somebody refused, or nobody signed in time; cancelled
   */
  async judge(
    asked: Asked,
    { answer, signal, waits }: Visit,
    summary: () => Promise<string | undefined>,
  ): Promise<AtNode | null> {
    const { tool, node, principal } = asked;
    if (node.target.baseUrl === null) return null;
    const ask = askOf(node, principal);
    const hash = hashOf(asked);
    const key = `${principal.id} ${hash}`;
    if (answer === 'decline') {
      this.#filed.delete(key);
      throw new Denial('confirm_required', 'The user did not agree.');
    }
    const known = this.#filed.get(key);
    if (known !== undefined) {
      const { code } = known;
      const look = async (): Promise<State> => stateOf(ask, code, hash);
      const state = answer === null ? await look() : await this.#answered(look, signal, waits);
      if (state === 'signed') return { kind: 'signed', take: async () => this.#take(ask, key, code, hash) };
      if (state === 'waiting') return visitOf(tool, node, known);
      this.#filed.delete(key);
      if (state === 'refused')
        throw new Denial('confirm_required', 'A person refused this call at the node.');
      if (answer !== null)
        throw new Denial('confirm_required', 'Nobody signed this call in time. Call again to ask once more.');
    }
    const filed = await this.#file(asked, ask, hash, await summary());
    if (filed === null) return null;
    this.#filed.set(key, filed);
    const [oldest] = this.#filed.keys();
    if (this.#filed.size > MAX_FILED && oldest !== undefined) this.#filed.delete(oldest);
    return visitOf(tool, node, filed);
  }

  /** Until somebody has signed or refused, or it has expired. @throws Denial cancelled */
  async #answered(look: () => Promise<State>, signal: AbortSignal, waits: Visit['waits']): Promise<State> {
    for (;;) {
      const state = await look();
      if (state !== 'waiting') return state;
      waits('Waiting for a person to sign on the page of the node.');
      try {
        await later(this.#lookMs, undefined, { signal });
      } catch {
        throw new Denial('cancelled', 'The call was cancelled; nothing was sent.');
      }
    }
  }

  async #file(
    { tool, args, node }: Asked,
    ask: Ask,
    hash: string,
    summary: string | undefined,
  ): Promise<Filed | null> {
    try {
      const { code = '' } = await ask('confirmations.post', {
        body: {
          tool: tool.name,
          args: maskArguments(args),
          ...(summary === undefined ? {} : { summary }),
          place: placeIn(args),
          call_hash: hash,
        },
      });
      if (!CODE_PATTERN.test(code)) return null;
      return { code, url: `${node.target.baseUrl ?? ''}/#/access/confirm/${code}` };
    } catch (error) {
      // An older node has no such row, a token may lack its scope, a plan may be too long for it: then a person signs elsewhere.
      if (error instanceof Denial) return null;
      throw error;
    }
  }

  async #take(ask: Ask, key: string, code: string, hash: string): Promise<void> {
    this.#filed.delete(key);
    try {
      await ask('confirmations.id.use.post', { params: { id: code }, body: { call_hash: hash } });
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      throw new Denial(
        'confirm_required',
        'The signature does not hold any more. Call again to ask once more.',
      );
    }
  }
}

/** Binds a signature to tool, node and arguments. */
function hashOf({ bound: { tool, node, argsHash } }: Asked): string {
  const text = JSON.stringify(['svc/confirm-at-node/v1', tool, node, argsHash]);
  return createHash('sha256').update(text).digest('hex');
}

async function stateOf(ask: Ask, code: string, hash: string): Promise<State> {
  try {
    const { state, call_hash } = await ask('confirmations.id.get', { params: { id: code } });
    return call_hash === hash ? (state ?? 'gone') : 'gone';
  } catch (error) {
    if (error instanceof Denial && error.reason === 'not_found') return 'gone';
    throw error;
  }
}

function visitOf(tool: Tool, node: NodeClient, { url }: Filed): AtNode {
  const message = `A person signs ${tool.name} for ${node.target.id} on this page of the node, here or on a phone that is signed in there.`;
  return { kind: 'visit', url, message };
}

function placeIn({ lat, lon }: Arguments): { lat: number; lon: number } | null {
  if (typeof lat !== 'number' || typeof lon !== 'number') return null;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}
