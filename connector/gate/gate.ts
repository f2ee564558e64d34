import type { Scope } from '../../shared/auth/scopes.ts';
import { bootTime } from '../../shared/boot-clock.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { CODE_PATTERN, type OperatorFiles } from '../../shared/operator/operator-files.ts';
import { presenceAge, STALE_S } from '../../shared/operator/presence.ts';
import {
  fileCall,
  giveSignatureBack,
  isSigned,
  spendSignature,
  takeSignature,
} from '../../shared/operator/signed-confirm.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { ConfirmedBy } from '../audit/audit.ts';
import { Denial } from '../denial.ts';
import { maskArguments } from '../mask-arguments.ts';
import { askOf } from '../planes/ask.ts';
import type { NodeClient } from '../planes/node-client.ts';
import { showOperator } from '../planes/operator-signer.ts';
import type { Principal } from '../principal.ts';
import { type Arguments, classOf, classOfCall, reservedIn, scopesOfCall, type Tool } from '../tools/tool.ts';
import { type BoundCall, bind } from './call-hash.ts';
import type { FlightSafety } from './flight-safety.ts';
import type { NodeSignatures, Visit } from './node-signatures.ts';
import { forgotten, type WayDown } from './way-down.ts';

/**
 * Whether a call may happen (docs/contract/connector.md). All other checks come before the confirmation, and a confirmation is used up
 * when the call is sent, so that none is lost on a call that fails for another reason.
 */

const SHOWN_CHARS = 1000;
/** More calls than people sign within the minute in which a signature holds. */
const MAX_TOLD = 256;

export interface GateCall {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly principal: Principal;
  readonly node: NodeClient;
  /** Whether the client's user agreed; null if not asked yet. */
  readonly elicited: boolean | null;
  /** Whether the client can ask its user. */
  readonly canAsk: boolean;
  /** How the client shows its user a page; absent: it cannot. */
  readonly visit?: Visit;
  /** Asks the node what it would say to the call. @throws Denial what it would refuse */
  readonly rehearse?: () => Promise<void>;
}

/** The confirmation of one call. */
export interface Grant {
  /** Null where none is needed. */
  readonly by: ConfirmedBy | null;
  /** The pilot in command in whose name it is sent; null for nobody. */
  readonly clientId: string | null;
  /** The code under which a person has signed the call; null for none. */
  readonly code: string | null;
  /** Right before the call is sent. @throws Denial if the confirmation no longer holds, or another call used it */
  readonly take: () => Promise<void>;
  /** Afterwards. @param done whether the node carried it out, or may have */
  readonly settle: (done: boolean) => void;
}

/** The result: the class, and what the caller must do next. */
export type Verdict =
  | { readonly kind: 'pass'; readonly scope: Scope; readonly grant: Grant }
  /** Only a confirmation by the client's user is missing. */
  | { readonly kind: 'ask'; readonly scope: Scope; readonly question: string }
  /** Only a signature on a page of the node is missing. */
  | { readonly kind: 'visit'; readonly scope: Scope; readonly url: string; readonly message: string };

interface GateOptions {
  readonly operator: OperatorFiles;
  readonly flight: FlightSafety;
  /** Absent: nobody signs at a node. */
  readonly signatures?: NodeSignatures;
  readonly wayDown: WayDown;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

export class Gate {
  readonly #options: GateOptions;
  /** The codes that were told last, by caller and call. */
  readonly #told = new Map<string, string>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Checks scope and enforcement, which no confirmation can replace. @throws Denial scope_missing, ws_proxy_enforce_off */
  async admit({ tool, args, principal, node }: GateCall): Promise<Scope> {
    checkReserved(tool, args, principal);
    const scope = classOfCall(tool, args);
    const granted = principal.scopes;
    const needed = [...scopesOfCall(tool, args), ...(tool.alsoNeeds === undefined ? [] : [tool.alsoNeeds])];
    const missing = granted === null ? [] : [...new Set(needed)].filter((each) => !granted.includes(each));
    if (missing.length > 0)
      throw new Denial('scope_missing', undefined, { required: missing.at(-1), missing, granted });
    if (needed.includes('flight') || affectsFlight(tool, scope)) await this.#options.flight.check(node);
    return scope;
  }

  /** @throws Denial confirm_required, operator_present_stale */
  async judge(call: GateCall, scope: Scope): Promise<Verdict> {
    switch (scope) {
      case 'read':
      case 'secret_read':
      case 'safe_write':
        return pass(scope, null);
      case 'admin':
        return this.#admin(call);
      case 'flight':
        return this.#flight(call);
      case 'destructive':
        return this.#destructive(call);
    }
  }

  /** The client's user, else a person as for a flight: what a model writes itself confirms nothing. */
  async #admin(call: GateCall): Promise<Verdict> {
    const { args, tool, node, elicited, canAsk } = call;
    if (elicited === true) return pass('admin', 'elicitation');
    if (elicited === false) throw new Denial('confirm_required', 'The user did not agree.');
    if (!canAsk || args['confirm_id'] !== undefined) return this.#byPerson(call, 'admin');
    const question = `Allow ${tool.name} on ${node.target.id} with ${JSON.stringify(maskArguments(args))}?`;
    return { kind: 'ask', scope: 'admin', question };
  }

  async #flight(call: GateCall): Promise<Verdict> {
    if (await this.#options.flight.isWaived(call.node)) return pass('flight', 'simulator');
    const verdict = await this.#byPerson(call, 'flight');
    return verdict.kind === 'pass'
      ? { ...verdict, grant: this.#options.wayDown.follow(call, verdict.grant) }
      : verdict;
  }

  /** By a signature, or by whoever stands by. @throws Denial confirm_required, operator_present_stale */
  async #byPerson(call: GateCall, scope: 'admin' | 'flight'): Promise<Verdict> {
    const code = this.#codeOf(call);
    if (code !== null) return this.#signed(call, scope, code);
    if (call.tool.signed?.(call.args) === true) return this.#unsigned(call, scope, 'confirm_required');
    if (this.#operatorPresent())
      return pass(scope, 'presence', async () => {
        const { tool, node, args } = call;
        // Who stands by sees what is sent in their name, or it is not sent.
        await showOperator(this.#options.operator, {
          tool: tool.name,
          node: node.target.id,
          args: cut(JSON.stringify(maskArguments(args))),
        });
        if (!this.#operatorPresent()) throw new Denial('operator_present_stale');
      });
    if (scope === 'flight' && (await this.#options.wayDown.covers(call))) return pass(scope, 'way_down');
    const pilot = await this.#options.flight.pilotPresent(call.node);
    if (pilot !== null) {
      const { now } = this.#options;
      const seen = now();
      const stale = async (): Promise<void> => {
        if (now() - seen > STALE_S * 1000) throw new Denial('operator_present_stale');
        return Promise.resolve();
      };
      return pass(scope, 'presence', stale, undefined, pilot);
    }
    return this.#unsigned(call, scope, 'operator_present_stale');
  }

  async #destructive(call: GateCall): Promise<Verdict> {
    const { tool, args } = call;
    // The words are not repeated here: a client must read them in the description. A tool that its arguments raise has none.
    if (tool.phrase === undefined ? classOf(tool) === 'destructive' : args['confirm'] !== tool.phrase)
      throw new Denial('confirm_required', 'Put the words from the description of this tool into `confirm`.');
    if (await this.#options.flight.isWaived(call.node)) return pass('destructive', 'simulator');
    const code = this.#codeOf(call);
    if (code === null) return this.#unsigned(call, 'destructive', 'confirm_required');
    return this.#signed(call, 'destructive', code);
  }

  #operatorPresent(): boolean {
    try {
      const age = presenceAge(this.#options.operator, bootTime());
      return age !== null && age <= STALE_S;
    } catch (error) {
      this.#options.log.warn(`operator signal: ${messageOf(error)}`); // an invalid signal counts as absent
      return false;
    }
  }

  /** The code that the call brings; else the one that this caller was told for this call, once a person has signed it. */
  #codeOf(call: GateCall): string | null {
    const given = call.args['confirm_id'];
    if (given !== undefined) return typeof given === 'string' ? given.toUpperCase() : ''; // '' is nobody's
    const bound = boundOf(call);
    const code = this.#told.get(callerOf(call, bound));
    if (code === undefined) return null;
    try {
      return isSigned(this.#options.operator, { code, ...bound }, bootTime()) ? code : null;
    } catch (error) {
      this.#options.log.warn(`signed confirm: ${messageOf(error)}`); // an invalid file counts as no signature
      return null;
    }
  }

  #tell(key: string, code: string): void {
    this.#told.delete(key); // the map keeps the order of use
    this.#told.set(key, code);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_TOLD && oldest !== undefined) this.#told.delete(oldest);
  }

  #signed(call: GateCall, scope: Scope, code: string): Verdict {
    const { operator, log } = this.#options;
    const bound = boundOf(call);
    const check = (): void => {
      try {
        if (CODE_PATTERN.test(code) && isSigned(operator, { code, ...bound }, bootTime())) return;
      } catch (error) {
        log.warn(`signed confirm: ${messageOf(error)}`); // an invalid file counts as no signature
      }
      throw new Denial(
        'confirm_required',
        'This call was not signed, or for other arguments, or too long ago. Leave confirm_id out to get a new code.',
      );
    };
    check();
    return pass(
      scope,
      'signature',
      async () => {
        check();
        if (!takeSignature(operator, code))
          throw new Denial('confirm_required', 'Another call has used this signature.');
        return Promise.resolve();
      },
      (done) => {
        try {
          (done ? spendSignature : giveSignatureBack)(operator, code);
        } catch (error) {
          log.warn(`signed confirm: ${messageOf(error)}`); // it stays taken, which nobody can use
        }
      },
      null,
      code,
    );
  }

  /**
   * A page of the node where a person signs, if client and node can; else the refusal, with a code under which a person may sign the
   * call in a terminal.
   */
  async #unsigned(
    call: GateCall,
    scope: Scope,
    reason: 'operator_present_stale' | 'confirm_required',
  ): Promise<Verdict> {
    const { tool, args, node, principal, visit } = call;
    const bound = boundOf(call);
    // Nobody is asked to sign what the node would refuse.
    if ((visit?.answer ?? null) === null) await call.rehearse?.();
    const { operator, signatures } = this.#options;
    const atNode =
      visit === undefined || signatures === undefined
        ? null
        : await signatures.judge({ ...call, bound }, visit, async () => (await summaryOf(call)).summary);
    if (atNode?.kind === 'visit') return { ...atNode, scope };
    if (atNode?.kind === 'signed') return pass(scope, 'signature', atNode.take);
    const isFleet = node.presence !== null;
    const requests = isFleet ? tool.requests?.(args, { node, principal }) : undefined;
    const code = await fileCall(
      operator,
      {
        ...bound,
        args: maskArguments(args),
        ...(await summaryOf(call)),
        fleet: isFleet,
        ...(requests === undefined ? {} : { requests }),
      },
      bootTime(),
    );
    this.#tell(callerOf(call, bound), code);
    const how = `A person signs it with \`svc operator confirm ${code}\`; then repeat the same call.`;
    throw new Denial(
      reason,
      reason === 'operator_present_stale'
        ? `No operator is present.${forgotten(call)} A person must keep \`svc operator hold\` running, or: ${how}`
        : how,
      { confirm_id: code },
    );
  }
}

/**
 * What no scope gives: root writes it on the node, or a person with the pairing key, which only whoever opened the Unix socket can
 * use here. Nobody is asked to confirm what the node would refuse. @throws Denial scope_missing
 */
function checkReserved(tool: Tool, args: Arguments, { kind, scopes }: Principal): void {
  const reserved = reservedIn(tool, args);
  if (reserved === null || (reserved.class === 'keyonly' && kind === 'socket')) return;
  const { name, class: required, reason } = reserved;
  const who =
    required === 'root'
      ? 'Nobody writes it from here: root does, on the node (`sudo svc mcp enable`).'
      : 'A person may write it with the pairing key: on the page of the node, or `svc config set`.';
  throw new Denial('scope_missing', `${name} ${reason}. ${who}`, {
    required,
    missing: [required],
    granted: scopes,
  });
}

function pass(
  scope: Scope,
  by: ConfirmedBy | null,
  take: Grant['take'] = async () => Promise.resolve(),
  settle: Grant['settle'] = () => undefined,
  clientId: Grant['clientId'] = null,
  code: Grant['code'] = null,
): Verdict {
  return { kind: 'pass', scope, grant: { by, take, settle, clientId, code } };
}

/** For a line that a person reads. */
function cut(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}

function callerOf({ principal }: GateCall, { tool, node, argsHash }: BoundCall): string {
  return JSON.stringify([principal.deviceId, principal.id, tool, node, argsHash]);
}

/** What a signature over the call covers. @throws Denial */
function boundOf({ tool, args, node, principal }: GateCall): ReturnType<typeof bind> {
  return bind(tool.name, node.target.id, tool.bound?.(args, { node, principal }) ?? args);
}

/** @throws Denial invalid_arguments: what cannot be carried out is not signed either; or that of the node */
async function summaryOf({ tool, args, node, principal }: GateCall): Promise<{ readonly summary?: string }> {
  if (tool.summary === undefined) return {};
  try {
    return { summary: await tool.summary(args, askOf(node, principal), { node, principal }) };
  } catch (error) {
    if (error instanceof ApiError) throw new Denial('invalid_arguments', error.message, error.extras);
    throw error;
  }
}

/** Whether the call counts as flight: by its class, or because it affects the aircraft. */
export function affectsFlight(tool: Tool, scope: Scope): boolean {
  return scope === 'flight' || tool.routes.includes('command.post');
}
