import { createHash } from 'node:crypto';

/** What a confirmation is bound to: this tool, this node, these arguments, and no others. */
export interface BoundCall {
  readonly tool: string;
  readonly node: string;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argsHash: string;
}

/** The confirmation itself is no part of what is confirmed. */
const NOT_HASHED: ReadonlySet<string> = new Set(['confirm', 'confirm_id', 'node']);

export function bind(tool: string, node: string, args: Readonly<Record<string, unknown>>): BoundCall {
  const counted = Object.fromEntries(Object.entries(args).filter(([name]) => !NOT_HASHED.has(name)));
  return { tool, node, argsHash: createHash('sha256').update(canonical(counted)).digest('hex') };
}

export function sameCall(a: BoundCall, b: BoundCall): boolean {
  return a.tool === b.tool && a.node === b.node && a.argsHash === b.argsHash;
}

/** JSON with the members in order and nothing between them. @throws Error for what JSON has not: functions, infinities */
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
