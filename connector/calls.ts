import { randomUUID } from 'node:crypto';
import { maskSecrets } from '../shared/mask.ts';
import { recordOf } from '../shared/member.ts';
import { faultOf } from '../shared/schemas/fault.ts';
import { compileValidator, createAjv, type Validator } from '../shared/schemas/validator.ts';
import { typedArguments } from './argument-types.ts';
import type { AuditEvent, ConnectorAudit } from './audit/audit.ts';
import { Denial } from './denial.ts';
import { affectsFlight, type Gate } from './gate/gate.ts';
import type { Visit } from './gate/node-signatures.ts';
import type { RateLimiter } from './gate/rate-limit.ts';
import { rehearse } from './gate/rehearsal.ts';
import { neighboursOf } from './neighbours.ts';
import { askedOf, Pages } from './pages.ts';
import { plainWords } from './plain-words.ts';
import { askBy, askOf } from './planes/ask.ts';
import type { NodeClient } from './planes/node-client.ts';
import type { Offers } from './planes/offers.ts';
import type { Plane } from './planes/plane.ts';
import type { Principal } from './principal.ts';
import { Sending } from './sending.ts';
import { checked } from './tools/listing.ts';
import { type Arguments, classOf, scopesOf, type Tool, type ToolAnswer } from './tools/tool.ts';
import type { Toolset } from './toolsets.ts';

/** Callers whose families are remembered. */
const MAX_SHOWN = 256;

/** One call of a tool from its arrival to its audit record, the same for all transports. */

export interface Caller {
  readonly principal: Principal;
  /** The MCP session, for the audit. */
  readonly session: string;
  /** stdio, http or unix. */
  readonly transport: string;
}

export interface CallRequest {
  readonly name: string;
  readonly args: Arguments;
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number | null, message: string) => void;
  /** The answer of the client's user to our question about this call on this node; null if there is none. */
  readonly elicited: { readonly node: string; readonly agreed: boolean } | null;
  /** Whether the client can ask its user. */
  readonly canAsk: boolean;
  /** What its user did with the page of the node that they were shown; absent: the client shows no pages. */
  readonly visited?: Visit['answer'];
}

type CallOutcome =
  | { readonly kind: 'answer'; readonly answer: ToolAnswer }
  /** The client must ask its user, and call again. */
  | { readonly kind: 'ask'; readonly question: string; readonly node: string }
  /** The client must show its user a page, and call again. */
  | { readonly kind: 'visit'; readonly url: string; readonly message: string; readonly node: string }
  | { readonly kind: 'denied'; readonly denial: Denial };

interface CallsOptions {
  readonly catalogue: ReadonlyMap<string, Tool>;
  /** Tools of the nodes' extensions, by name; none of them has a name of the catalogue. */
  readonly contributed: () => ReadonlyMap<string, Tool>;
  readonly plane: Plane;
  readonly gate: Gate;
  readonly rate: RateLimiter;
  readonly audit: ConnectorAudit;
  /** Whether the caller's token is still valid. @throws Denial */
  readonly confirm: (principal: Principal) => Promise<void>;
  /** The families that are listed besides the tools that always are. */
  readonly toolsets: ReadonlySet<Toolset>;
  /** Whether flight tools are shown at all. */
  readonly showsFlight: () => boolean;
  readonly pages: Pages;
  /** The list is another one. */
  readonly onChange: () => void;
  /** Which tools the nodes have routes for. */
  readonly offers: Pick<Offers, 'refresh' | 'has'>;
}

/** What the audit says about one call, as far as it is known. */
type Course = Pick<AuditEvent, 'node' | 'decision' | 'confirmedBy'> & {
  /** The number of the event that announced it; null until then. */
  readonly announced: number | null;
};

export class Calls {
  readonly #options: CallsOptions;
  /** Made for the first call, as the validator of each tool is: many connectors are only asked what there is. */
  #ajv: ReturnType<typeof createAjv> | null = null;
  readonly #validators = new WeakMap<Tool, Validator>();
  /** Families that a caller asked for, by principal. */
  readonly #shown = new Map<string, ReadonlySet<Toolset>>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  #validatorOf(tool: Tool): Validator {
    let validator = this.#validators.get(tool);
    if (validator === undefined) {
      validator = compileValidator((this.#ajv ??= createAjv()), checked(tool));
      this.#validators.set(tool, validator);
    }
    return validator;
  }

  /** The tools that this caller may see and the nodes have, in the order of their names. */
  async visible(principal: Principal): Promise<readonly Tool[]> {
    const { catalogue, contributed, showsFlight, offers, plane } = this.#options;
    const { scopes } = principal;
    await offers.refresh(principal);
    const isOneNode = plane.mode !== 'fleet' && plane.nodes.length < 2;
    const families = this.#familiesOf(principal);
    const all = [...catalogue.values(), ...contributed().values()];
    const shown = all.filter((tool) => {
      if (tool.toolset !== undefined && !families.has(tool.toolset)) return false;
      if (tool.ofFleet === true && isOneNode) return false;
      const may = scopes === null || scopesOf(tool).every((scope) => scopes.includes(scope));
      return may && (showsFlight() || !affectsFlight(tool, classOf(tool))) && offers.has(tool);
    });
    return shown.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #familiesOf({ id }: Principal): ReadonlySet<Toolset> {
    return new Set([...this.#options.toolsets, ...(this.#shown.get(id) ?? [])]);
  }

  /** Lists a family for this caller from now on. @returns its tools, as far as the caller may use them */
  async #show(family: Toolset, principal: Principal): Promise<readonly Tool[]> {
    const families = this.#familiesOf(principal);
    if (!families.has(family)) {
      const [oldest] = this.#shown.keys();
      if (this.#shown.size >= MAX_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
      this.#shown.set(principal.id, new Set([...families, family]));
      this.#options.onChange();
    }
    return (await this.visible(principal)).filter(({ toolset }) => toolset === family);
  }

  /** Never throws for an error in the call. */
  async call(request: CallRequest, caller: Caller): Promise<CallOutcome> {
    const began = performance.now();
    const course: { -readonly [K in keyof Course]: Course[K] } = {
      node: '*',
      decision: 'allowed',
      confirmedBy: null,
      announced: null,
    };
    try {
      const outcome = await this.#run(request, caller, course);
      if (outcome.kind === 'answer') this.#record(request, caller, course, outcome.answer.value, began);
      return outcome;
    } catch (error) {
      const denial =
        error instanceof Denial ? error : new Denial('not_supported', `It failed: ${String(error)}`);
      // Once it may have been carried out, it was not denied.
      if (!denial.maybeDone)
        course.decision = denial.reason === 'operator_present_stale' ? 'operator_absent' : 'denied';
      this.#record(request, caller, course, `${denial.reason}: ${denial.message}`, began);
      return { kind: 'denied', denial };
    }
  }

  /** Lists are recorded too, since they show what the caller knew. */
  recordList(caller: Caller, method: string, count: number): void {
    const course = { node: '*', decision: 'allowed', confirmedBy: null } as const;
    this.#options.audit.write(eventOf({ name: method, args: {} }, caller, course, `${count}`, 0));
  }

  async #run(
    request: CallRequest,
    caller: Caller,
    course: { -readonly [K in keyof Course]: Course[K] },
  ): Promise<CallOutcome> {
    const { principal } = caller;
    const { catalogue, contributed, plane, gate, rate, audit } = this.#options;
    const { canAsk, signal, visited } = request;
    await this.#options.confirm(principal);
    const tool = catalogue.get(request.name) ?? contributed().get(request.name);
    if (tool === undefined) throw this.#unknown(request.name);
    const args = recordOf(typedArguments(request.args, checked(tool)));
    if (plane.nodes.length === 0) await plane.searching;
    const node = this.#nodeFor(tool, args, principal, plane);
    course.node = tool.fleetWide === true ? '*' : node.target.id;
    const errors = this.#validatorOf(tool)(args);
    if (errors !== null)
      throw new Denial('invalid_arguments', errors.map((error) => faultOf(error, 'the call')).join('; '), {
        errors,
      });
    const elicited = request.elicited?.node === node.target.id ? request.elicited.agreed : null;
    const waits = (message: string): void => request.progress(0, null, message);
    const visit = visited === undefined ? {} : { visit: { answer: visited, signal, waits } };
    const { progress } = request;
    const show = async (family: Toolset): Promise<readonly Tool[]> => this.#show(family, principal);
    const context = { args, principal, node, plane, audit, signal, progress, show };
    // In a fleet each command is signed, also one that is only checked.
    const tried = async (): Promise<void> =>
      node.presence === null
        ? rehearse(
            async (ask) => tool.run({ ...context, ask, isRehearsal: true }),
            askOf(node, principal, signal),
          )
        : undefined;
    const call = { tool, args, principal, node, elicited, canAsk, rehearse: tried, ...visit };
    const scope = await gate.admit(call);
    if (elicited === null && (visited ?? null) === null) rate.spend(principal.id); // the round that asked the user has been counted
    const reads = scope === 'read' || scope === 'secret_read';
    const problem = reads ? null : audit.problem();
    if (problem !== null) throw new Denial('audit_unavailable', undefined, { problem });
    const verdict = await gate.judge(call, scope);
    if (verdict.kind === 'ask') return { kind: 'ask', question: verdict.question, node: node.target.id };
    if (verdict.kind === 'visit') return { ...verdict, node: node.target.id };
    // Of an answer that was given: nothing is asked.
    if (reads && Pages.isOurs(args['cursor']))
      return { kind: 'answer', answer: this.#options.pages.next(args['cursor'], askedOf(tool), principal) };
    const { grant } = verdict;
    course.confirmedBy = grant.by;
    if (grant.by !== null) course.decision = 'confirmed';
    if (signal.aborted) throw new Denial('cancelled', 'The call was cancelled; nothing was sent.');
    const announce = (): void => {
      if (!reads) course.announced = audit.announce(eventOf(request, caller, course, 'announced', 0));
    };
    const sending = new Sending({ node, principal, signal, grant, announce });
    const ask = askBy(async (asked) => sending.ask(asked));
    const answer = await tool.run({ ...context, ask }).finally(() => sending.end());
    const maySee = principal.scopes === null || principal.scopes.includes('secret_read');
    const { value, text, ...rest } = answer;
    const whole: ToolAnswer = {
      ...rest,
      value: plainWords(maySee ? value : (maskSecrets(value) as ToolAnswer['value'])),
    };
    const shown = this.#options.pages.first(whole, askedOf(tool), principal, reads);
    // What a tool wrote itself is about the whole answer, and it writes no secret.
    const told = text === undefined || shown !== whole ? {} : { text: plainWords(text) };
    return { kind: 'answer', answer: { ...shown, ...told } };
  }

  #unknown(name: string): Denial {
    const { catalogue, contributed } = this.#options;
    const near = neighboursOf(name, [...catalogue.keys(), ...contributed().keys()]);
    const hint = near.length === 0 ? '' : ` Near it: ${near.join(', ')}.`;
    return new Denial('unknown_tool', `There is no tool ${name.slice(0, 64)}.${hint}`, { near });
  }

  #nodeFor(tool: Tool, args: Arguments, principal: Principal, plane: Plane): NodeClient {
    const [first] = tool.fleetWide === true ? plane.nodes : [];
    if (first !== undefined) return first;
    return plane.resolve(args['node'], principal);
  }

  #record(request: CallRequest, caller: Caller, course: Course, result: unknown, began: number): void {
    const event = eventOf(request, caller, course, result, Math.round(performance.now() - began));
    const { announced } = course;
    this.#options.audit.write(announced === null ? event : { ...event, phase: 'settled', of: announced });
  }
}

function eventOf(
  { name, args }: Pick<CallRequest, 'name' | 'args'>,
  { principal, session, transport }: Caller,
  { node, decision, confirmedBy }: Omit<Course, 'announced'>,
  result: unknown,
  latencyMs: number,
): AuditEvent {
  return {
    tokenId: principal.id,
    operatorId: principal.operatorId,
    tool: name,
    args,
    node,
    decision,
    confirmedBy,
    result,
    latencyMs,
    mcpSession: session,
    plane: transport,
  };
}

export function newSession(): string {
  return randomUUID();
}
