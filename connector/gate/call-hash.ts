import { createHash } from 'node:crypto';
import type { JsonObject } from '../../shared/member.ts';

/** Binds a confirmation to one tool, one node and one set of arguments. */
export interface BoundCall {
  readonly tool: string;
  readonly node: string;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argsHash: string;
}

/** The confirmation itself is not part of the hash. */
const NOT_HASHED: ReadonlySet<string> = new Set(['confirm', 'confirm_id', 'node']);

export function bind(tool: string, node: string, args: JsonObject): BoundCall {
  const counted = Object.fromEntries(Object.entries(args).filter(([name]) => !NOT_HASHED.has(name)));
  return { tool, node, argsHash: createHash('sha256').update(canonical(counted)).digest('hex') };
}

export function sameCall(a: BoundCall, b: BoundCall): boolean {
  return a.tool === b.tool && a.node === b.node && a.argsHash === b.argsHash;
}

/** JSON with sorted members and no spaces. @throws Error for values that JSON does not have: functions, infinities */
export function canonical(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error('a number that JSON does not have');
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
