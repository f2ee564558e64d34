import { randomUUID } from 'node:crypto';
import type { JsonSchema } from '../shared/schemas/json-schema.ts';
import { compileValidator, createAjv } from '../shared/schemas/validator.ts';
import type { ConnectorAudit, Decision } from './audit/audit.ts';
import { Denial } from './denial.ts';
import { affectsFlight, type Gate, type Verdict } from './gate/gate.ts';
import type { RateLimiter } from './gate/rate-limit.ts';
import type { NodeClient } from './planes/node-client.ts';
import type { Plane } from './planes/plane.ts';
import type { Principal } from './principal.ts';
import { redactValue } from './redaction.ts';
import { type Arguments, classOf, isRaisable, type Tool, type ToolAnswer } from './tools/tool.ts';

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
  /** The answer of the client's user to our question; null if it was not asked yet. */
  readonly elicited: boolean | null;
  /** Whether the client can ask its user. */
  readonly canAsk: boolean;
}

export type CallOutcome =
  | { readonly kind: 'answer'; readonly answer: ToolAnswer }
  /** The client must ask its user, and call again. */
  | { readonly kind: 'ask'; readonly question: string; readonly node: string }
  | { readonly kind: 'denied'; readonly denial: Denial };

export interface CallsOptions {
  readonly catalogue: ReadonlyMap<string, Tool>;
  readonly plane: Plane;
  readonly gate: Gate;
  readonly rate: RateLimiter;
  readonly audit: ConnectorAudit;
  /** Whether flight tools are shown at all. */
  readonly showsFlight: () => boolean;
}

/** On every tool, beside its own arguments. */
const NODE: JsonSchema = {
  type: 'string',
  maxLength: 128,
  description: 'id of the node; optional if there is only one',
};
const CONFIRM_ID: JsonSchema = {
  type: 'string',
  pattern: '^[A-Za-z0-9]{8}$',
  description: 'the code under which a person has signed this call',
};

export class Calls {
  readonly #options: CallsOptions;
  readonly #validators: ReadonlyMap<string, ReturnType<typeof compileValidator>>;

  constructor(options: CallsOptions) {
    this.#options = options;
    const ajv = createAjv({ useDefaults: false });
    this.#validators = new Map(
      [...options.catalogue.values()].map((tool) => [tool.name, compileValidator(ajv, inputSchema(tool))]),
    );
  }

  /** The tools that this caller may see, in the order of their names. */
  visible({ scopes }: Principal): readonly Tool[] {
    const { catalogue, showsFlight } = this.#options;
    return [...catalogue.values()].filter((tool) => {
      const scope = classOf(tool);
      return (scopes === null || scopes.includes(scope)) && (showsFlight() || !affectsFlight(tool, scope));
    });
  }

  /** Never throws for an error in the call. */
  async call(request: CallRequest, caller: Caller): Promise<CallOutcome> {
    const began = performance.now();
    const state = { node: '*', decision: 'allowed' as Decision };
    try {
      const outcome = await this.#run(request, caller, state);
      if (outcome.kind === 'answer') this.#record(request, caller, state, outcome.answer.value, began);
      return outcome;
    } catch (error) {
      const denial =
        error instanceof Denial ? error : new Denial('not_supported', `It failed: ${String(error)}`);
      state.decision = denial.reason === 'operator_present_stale' ? 'operator_absent' : 'denied';
      this.#record(request, caller, state, `${denial.reason}: ${denial.message}`, began);
      return { kind: 'denied', denial };
    }
  }

  /** Lists are recorded too, since they show what the caller knew. */
  recordList({ principal, session, transport }: Caller, method: string, count: number): void {
    this.#options.audit.write({
      tokenId: principal.id,
      operatorId: principal.operatorId,
      tool: method,
      args: {},
      node: '*',
      decision: 'allowed',
      result: `${count}`,
      latencyMs: 0,
      mcpSession: session,
      plane: transport,
    });
  }

  async #run(
    request: CallRequest,
    { principal }: Caller,
    state: { node: string; decision: Decision },
  ): Promise<CallOutcome> {
    const { catalogue, plane, gate, rate, audit } = this.#options;
    const { args } = request;
    const tool = catalogue.get(request.name);
    if (tool === undefined)
      throw new Denial('unknown_tool', `There is no tool ${request.name.slice(0, 64)}.`);
    const node = this.#nodeFor(tool, args, principal, plane);
    state.node = tool.fleetWide === true ? '*' : node.target.id;
    const errors = this.#validators.get(tool.name)?.(args) ?? null;
    if (errors !== null)
      throw new Denial(
        'invalid_arguments',
        errors.map(({ path, message }) => `${path === '' ? 'arguments' : path} ${message}`).join('; '),
        { errors },
      );
    const call = { tool, args, principal, node, elicited: request.elicited };
    const scope = await gate.admit(call);
    rate.spend(principal.id);
    const problem = scope === 'read' || scope === 'secret_read' ? null : audit.problem();
    if (problem !== null) throw new Denial('audit_unavailable', undefined, { problem });
    const verdict: Verdict = await gate.judge(call, scope);
    if (verdict.kind === 'ask') {
      if (!request.canAsk)
        throw new Denial('confirm_required', 'Call again with confirm: true, once the user has agreed.');
      return { kind: 'ask', question: verdict.question, node: node.target.id };
    }
    if (verdict.confirmed) state.decision = 'confirmed';
    if (request.signal.aborted) throw new Denial('cancelled');
    const answer = await tool.run({
      args,
      principal,
      node,
      plane,
      audit,
      signal: request.signal,
      progress: request.progress,
      ask: async (asked) => node.json(asked, principal, request.signal),
    });
    const maySee = principal.scopes === null || principal.scopes.includes('secret_read');
    return {
      kind: 'answer',
      answer: maySee ? answer : { ...answer, value: redactValue(answer.value) as ToolAnswer['value'] },
    };
  }

  #nodeFor(tool: Tool, args: Arguments, principal: Principal, plane: Plane): NodeClient {
    const [first] = plane.nodes;
    if (tool.fleetWide === true && first !== undefined) return first;
    return plane.resolve(args['node'], principal);
  }

  #record(
    { name, args }: CallRequest,
    { principal, session, transport }: Caller,
    { node, decision }: { readonly node: string; readonly decision: Decision },
    result: unknown,
    began: number,
  ): void {
    this.#options.audit.write({
      tokenId: principal.id,
      operatorId: principal.operatorId,
      tool: name,
      args,
      node,
      decision,
      result,
      latencyMs: Math.round(performance.now() - began),
      mcpSession: session,
      plane: transport,
    });
  }
}

/** The arguments of a tool as the client is shown them: strict, so that a misspelt one is an error. */
export function inputSchema(tool: Tool): JsonSchema {
  const scope = classOf(tool);
  const asks = isRaisable(tool) || scope === 'admin' || scope === 'flight' || scope === 'destructive';
  const confirm: JsonSchema =
    scope === 'destructive' || isRaisable(tool)
      ? { type: ['boolean', 'string'], maxLength: 64, description: 'true, or the words of the description' }
      : { type: 'boolean', description: 'true once the user has agreed' };
  return {
    type: 'object',
    properties: {
      ...tool.input.properties,
      ...(tool.fleetWide === true && tool.name !== 'audit.query' ? {} : { node: NODE }),
      ...(asks ? { confirm, confirm_id: CONFIRM_ID } : {}),
    },
    ...(tool.input.required === undefined ? {} : { required: [...tool.input.required] }),
    additionalProperties: false,
  };
}

export function newSession(): string {
  return randomUUID();
}
