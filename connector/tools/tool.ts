import { higher, isScope, type Scope } from '../../shared/auth/scopes.ts';
import type { JsonObject } from '../../shared/member.ts';
import type { SignedRequest } from '../../shared/operator/signed-confirm.ts';
import { type Raised, raisedByRequest } from '../../shared/routes/classes.ts';
import type { Row } from '../../shared/routes/row.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import type { ConnectorAudit } from '../audit/audit.ts';
import { Denial } from '../denial.ts';
import type { Ask } from '../planes/ask.ts';
import type { NodeClient } from '../planes/node-client.ts';
import type { Plane } from '../planes/plane.ts';
import type { Principal } from '../principal.ts';
import { asRecord, rowOf } from '../rows.ts';
import type { Toolset } from '../toolsets.ts';

export type Arguments = JsonObject;

/** The context of a tool call. */
export interface ToolContext {
  readonly args: Arguments;
  readonly principal: Principal;
  /** The node that the call is for; tools of the whole fleet ignore it. */
  readonly node: NodeClient;
  readonly plane: Plane;
  readonly audit: ConnectorAudit;
  readonly signal: AbortSignal;
  /** @param done 0 to `total`, or any growing number */
  readonly progress: (done: number, total: number | null, message: string) => void;
  readonly ask: Ask;
  /** True: nobody has approved it; what it asks is only checked. */
  readonly isRehearsal?: boolean;
  /** Lists a family of tools for this caller from now on. @returns those that it may use */
  readonly show: (family: Toolset) => Promise<readonly Tool[]>;
}

/** A file that the caller fetches itself. */
interface ToolLink {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
}

/** A picture beside the structured answer. */
interface ToolImage {
  readonly data: Buffer;
  readonly mimeType: string;
}

/** Whose call it is, and for which node. */
type CallOf = Pick<ToolContext, 'principal' | 'node'>;

export interface ToolAnswer {
  /** An object: the structured content, whole. */
  readonly value: JsonObject;
  /** What a model reads: short, rounded, with units. Absent: a line for each member of the value. */
  readonly text?: string;
  readonly image?: ToolImage;
  readonly link?: ToolLink;
  /** It was carried out and went wrong: what the model must read as a failure. */
  readonly isError?: boolean;
}

export interface Tool {
  /** `^[a-zA-Z0-9_-]{1,64}$`, the names that every client takes. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Absent: always listed. */
  readonly toolset?: Toolset;
  /** Ids of the node's rows that it calls. Its class is the highest of theirs, from the node's own table. */
  readonly routes: readonly RowId[];
  /** Rows that it calls for some arguments alone, of a class that is not higher; a node may lack them. */
  readonly besides?: readonly RowId[];
  /** Path parameters and body of the request, if a route has a class that depends on them. */
  readonly request?: (args: Arguments) => {
    readonly params: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  /** A class that does not follow from the routes: `POST /api/command` is `flight` for every command. */
  readonly least?: Scope;
  /** A second scope that the caller must hold, because the answer is a secret. */
  readonly alsoNeeds?: Scope;
  /** Members of the argument object; `node` and the confirmations are added to it. */
  readonly input: {
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  readonly idempotent: boolean;
  /** True if it takes away or overwrites something; flight, destructive and raisable tools always count so. */
  readonly destroys?: boolean;
  /** True if it deals with more than the node and its vehicle: the internet, another network, what a camera sees. */
  readonly openWorld?: boolean;
  /** Of an extension: only the names of its arguments are checked here, the extension checks their values. */
  readonly contributed?: true;
  /** True if it is not about one node. */
  readonly fleetWide?: boolean;
  /** True if it says nothing where there is one node only. */
  readonly ofFleet?: boolean;
  /** What the call would do, for the person who signs it. @throws ApiError for arguments that cannot be carried out; Denial */
  readonly summary?: (args: Arguments, ask: Ask, call: CallOf) => string | Promise<string>;
  /** What a signature covers where the arguments only name it: the arguments, and that. @throws Denial */
  readonly bound?: (args: Arguments, call: CallOf) => JsonObject;
  /** Whether these arguments want a signature over the call itself: nobody who stands by allows them. */
  readonly signed?: (args: Arguments) => boolean;
  /** The writes that it consists of, in their order, where they are known before: a person signs them at once. @throws Denial */
  readonly requests?: (args: Arguments, call: CallOf) => readonly SignedRequest[];
  /** The words that a destructive call must carry in `confirm`. */
  readonly phrase?: string;
  readonly run: (context: ToolContext) => Promise<ToolAnswer>;
}

/** The class of a tool by the table, without its arguments. */
export function classOf(tool: Pick<Tool, 'routes' | 'least'>): Scope {
  let highest: Scope = tool.least ?? 'read';
  for (const id of tool.routes) highest = higher(highest, classOfRow(rowOf(id)));
  return highest;
}

function classOfRow(row: Row): Scope {
  if (row.scope === 'inner') return 'admin';
  // Rows that no token may use: a public read is open to everybody, the others are for the owner.
  if (row.scope === 'none')
    return row.access === 'public' && row.method === 'GET' && row.blast === 'none' ? 'read' : 'admin';
  return row.scope;
}

/** Whether the arguments may raise the class: they say what the request names. */
export function isRaisable({ routes, request }: Pick<Tool, 'routes' | 'request'>): boolean {
  if (request === undefined) return false;
  const body = asRecord(request({}).body);
  return routes.some((id) =>
    rowOf(id).names.some(({ in: place, member }) => place === 'path' || body[member] === undefined),
  );
}

/** Names were written with dots (`flight.takeoff`), and are still understood so. */
export function canonicalName(name: string): string {
  return name.replaceAll('.', '_');
}

/**
 * The class of one call, as on the node. Calls that need the pairing key or root count as destructive here, so that the client
 * that started the connector cannot make them; the node makes the final decision.
 */
export function classOfCall(tool: Tool, args: Arguments): Scope {
  return scopesOfCall(tool, args).reduce(higher);
}

/** Every scope that one call needs, all of them: those of its routes, of the tool itself, and of what the arguments name. */
export function scopesOfCall(tool: Tool, args: Arguments): readonly [Scope, ...Scope[]] {
  const raised = raisedIn(tool, args).map((each) => (isScope(each.class) ? each.class : 'destructive'));
  return [...scopesOf(tool), ...raised];
}

/** What the call names that no scope is enough for; null for nothing. */
export function reservedIn(tool: Tool, args: Arguments): Raised | null {
  const reserved = raisedIn(tool, args).filter((each) => !isScope(each.class));
  return reserved.find((each) => each.class === 'root') ?? reserved[0] ?? null;
}

function raisedIn(tool: Tool, args: Arguments): readonly Raised[] {
  const request = tool.request?.(args);
  if (request === undefined) return [];
  return tool.routes.flatMap((id) => raisedByRequest(rowOf(id).names, request.params, request.body));
}

/** The scopes of a tool without its arguments: those of its routes, and its own. */
export function scopesOf({ routes, least }: Pick<Tool, 'routes' | 'least'>): readonly [Scope, ...Scope[]] {
  const rows = classOf({ routes });
  return least === undefined ? [rows] : [rows, least];
}

/** For what a person or a client fetches itself. @throws Denial where the node has no address here */
export function addressOf({ target }: NodeClient): string {
  if (target.baseUrl === null)
    throw new Denial('not_supported', 'Over the fleet the node has no address. Ask it on its own network.');
  return target.baseUrl;
}
