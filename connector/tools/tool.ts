import { higher, isScope, type Scope } from '../../shared/auth/scopes.ts';
import { raisedByRequest } from '../../shared/routes/classes.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import type { ConnectorAudit } from '../audit/audit.ts';
import type { NodeClient, NodeRequest } from '../planes/node-client.ts';
import type { Plane } from '../planes/plane.ts';
import type { Principal } from '../principal.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** What a tool has to work with. */
export interface ToolContext {
  readonly args: Arguments;
  readonly principal: Principal;
  /** The node that the call is for; tools of the whole fleet do not look at it. */
  readonly node: NodeClient;
  readonly plane: Plane;
  readonly audit: ConnectorAudit;
  readonly signal: AbortSignal;
  /** @param done 0 to `total`, or any growing number */
  readonly progress: (done: number, total: number | null, message: string) => void;
  /** Asks the node. @throws Denial */
  readonly ask: (request: NodeRequest) => Promise<unknown>;
}

/** A picture beside the structured answer. */
export interface ToolImage {
  readonly data: Buffer;
  readonly mimeType: string;
}

export interface ToolAnswer {
  /** An object; it is both the structured content and, as JSON, the text. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly image?: ToolImage;
}

export interface Tool {
  /** Of MCP's set of characters: letters, digits, `.`, `_`, `-`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Ids of the node's rows that it calls. Its class is the highest of theirs, from the same table as the node's. */
  readonly routes: readonly string[];
  /** The request's path parameters and body of these arguments, where a route has a class for what they name. */
  readonly request?: (args: Arguments) => {
    readonly params: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  /** A class that the routes do not tell: `POST /api/command` is `flight` for whatever it commands. */
  readonly least?: Scope;
  /** A second scope that the caller must hold, because the answer is a secret. */
  readonly alsoNeeds?: Scope;
  /** Members of the argument object; `node` and the confirmations are added to it. */
  readonly input: {
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  readonly output: JsonSchema;
  readonly idempotent: boolean;
  /** Not about one node. */
  readonly fleetWide?: boolean;
  /** The words that a destructive call must carry in `confirm`. */
  readonly phrase?: string;
  readonly run: (context: ToolContext) => Promise<ToolAnswer>;
}

const BY_ID: ReadonlyMap<string, Row> = new Map(ROWS.map((row) => [row.id, row]));

/** @throws Error for an id that the table does not have: a tool must not outlive its route */
export function rowOf(id: string): Row {
  const row = BY_ID.get(id);
  if (row === undefined) throw new Error(`no route ${id} in the table`);
  return row;
}

/** The class that the table gives a tool, before its arguments are looked at. */
export function classOf(tool: Pick<Tool, 'routes' | 'least'>): Scope {
  let highest: Scope = tool.least ?? 'read';
  for (const id of tool.routes) highest = higher(highest, classOfRow(rowOf(id)));
  return highest;
}

function classOfRow(row: Row): Scope {
  if (row.scope === 'inner') return 'admin';
  // No token may: a public read tells what anybody may know, everything else is the owner's.
  if (row.scope === 'none')
    return row.access === 'public' && row.method === 'GET' && row.blast === 'none' ? 'read' : 'admin';
  return row.scope;
}

/** Whether what is named in the arguments may raise the class. */
export function isRaisable({ routes }: Pick<Tool, 'routes'>): boolean {
  return routes.some((id) => rowOf(id).names.length > 0);
}

/**
 * The class of one call, as the node has it. What only the pairing key or root may do counts as destructive here: a client
 * that merely launched the connector does not get it, and the node decides in the end.
 */
export function classOfCall(tool: Tool, args: Arguments): Scope {
  const least = classOf(tool);
  const request = tool.request?.(args);
  if (request === undefined) return least;
  return tool.routes.reduce<Scope>((highest, id) => {
    const raised = raisedByRequest(rowOf(id).names, request.params, request.body);
    if (raised === null) return highest;
    return higher(highest, isScope(raised.class) ? raised.class : 'destructive');
  }, least);
}

/** The schema of a row's answer, as an output schema: an object. */
export function answerOf(id: string): JsonSchema {
  const schema = rowOf(id).responses[200]?.schema ?? null;
  return schema !== null && schema['type'] === 'object' ? schema : { type: 'object' };
}

/** @param values of the path parameters; the query is added by the caller */
export function pathOf(id: string, values: Readonly<Record<string, string>> = {}): string {
  return rowOf(id).path.replaceAll(/\{\*?(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

/** As an object, whatever it was. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : { value };
}
