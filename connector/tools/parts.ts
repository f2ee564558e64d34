import type { JsonObject } from '../../shared/member.ts';
import type { Query } from '../../shared/routes/target.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { asRecord, rowOf } from '../rows.ts';
import type { Tool, ToolContext } from './tool.ts';

/** Builders for the common kinds of tools. */

export const name: JsonSchema = { type: 'string', minLength: 1, maxLength: 128 };

/** Of answers that may be too long for one result: see pages.ts. What it is stands once, in the instructions of the server. */
export const cursor: JsonSchema = {
  type: 'string',
  pattern: '^more-[0-9a-f-]{36}$',
  description: 'next_cursor of the answer before',
  'x-says': 'must be the next_cursor of an answer',
};

interface Head {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** A tool that sends one GET to the node and returns the answer unchanged. */
export function reading(head: Head, route: RowId, options: Partial<Tool> = {}): Tool {
  return {
    ...head,
    routes: [route],
    input: { properties: {} },
    idempotent: true,
    run: async ({ ask }) => ({ value: asRecord(await ask(rowOf(route))) }),
    ...options,
  };
}

interface Writing {
  readonly input?: Tool['input'];
  /** Which of the rows these arguments mean; absent: the first. */
  readonly route?: (args: ToolContext['args']) => RowId;
  readonly params?: (args: ToolContext['args']) => Readonly<Record<string, string>>;
  readonly query?: (args: ToolContext['args']) => Query;
  /** Undefined: no body. */
  readonly body?: (args: ToolContext['args']) => unknown;
}

/** A tool that sends one write to the node. */
export function writing(
  head: Head,
  routes: readonly [RowId, ...RowId[]],
  what: Writing,
  options: Partial<Tool> = {},
): Tool {
  return {
    ...head,
    routes,
    input: what.input ?? { properties: {} },
    idempotent: false,
    request: (args) => ({ params: what.params?.(args) ?? {}, body: what.body?.(args) }),
    run: async ({ ask, args }) => {
      const row = rowOf(what.route?.(args) ?? routes[0]);
      const body = what.body?.(args);
      const data = await ask(row, {
        params: what.params?.(args) ?? {},
        query: what.query?.(args) ?? {},
        ...(body === undefined ? {} : { body }),
        timeoutMs: row.limits.timeoutMs + 2000,
      });
      return { value: { ok: true, status: 'completed', data } };
    },
    ...options,
  };
}

/** The texts and numbers of these arguments, as a query. */
export function saidIn(values: JsonObject): Query {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string | number] =>
        typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
}
