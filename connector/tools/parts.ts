import type { JsonObject } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { asRecord, pathOf, rowOf } from '../rows.ts';
import { answerOf, type Tool, type ToolContext } from './tool.ts';

/** Builders for the common kinds of tools. */

export const name: JsonSchema = { type: 'string', minLength: 1, maxLength: 128 };

/** Of answers that may be too long for one result: see pages.ts. What it is stands once, in the instructions of the server. */
export const cursor: JsonSchema = {
  type: 'string',
  pattern: '^more-[0-9a-f-]{36}$',
  'x-says': 'must be the next_cursor of an answer',
};

interface Head {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** A tool that sends one GET to the node and returns the answer unchanged. */
export function reading(head: Head, route: string, options: Partial<Tool> = {}): Tool {
  return {
    ...head,
    routes: [route],
    input: { properties: {} },
    output: answerOf(route),
    idempotent: true,
    run: async ({ ask }) => ({ value: asRecord(await ask({ method: 'GET', path: pathOf(route) })) }),
    ...options,
  };
}

/** The answer of every write. */
const WRITTEN: JsonSchema = {
  type: 'object',
  required: ['ok', 'status'],
  properties: {
    ok: { type: 'boolean' },
    status: { enum: ['completed', 'failed'] },
    data: { description: "the node's own answer" },
  },
};

interface Writing {
  readonly input?: Tool['input'];
  readonly params?: (args: ToolContext['args']) => Readonly<Record<string, string>>;
  readonly query?: (args: ToolContext['args']) => string;
  /** Undefined: no body. */
  readonly body?: (args: ToolContext['args']) => unknown;
}

/** A tool that sends one write to the node. */
export function writing(head: Head, route: string, what: Writing, options: Partial<Tool> = {}): Tool {
  const row = rowOf(route);
  return {
    ...head,
    routes: [route],
    input: what.input ?? { properties: {} },
    output: WRITTEN,
    idempotent: false,
    request: (args) => ({ params: what.params?.(args) ?? {}, body: what.body?.(args) }),
    run: async ({ ask, args }) => {
      const data = await ask({
        method: row.method,
        path: pathOf(route, what.params?.(args) ?? {}) + (what.query?.(args) ?? ''),
        ...(what.body === undefined ? {} : { body: what.body(args) }),
        timeoutMs: row.limits.timeoutMs + 2000,
      });
      return { value: { ok: true, status: 'completed', data } };
    },
    ...options,
  };
}

/** A query string of the given arguments. */
export function queryOf(values: JsonObject): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === 'string' || typeof value === 'number') query.append(key, `${value}`);
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
