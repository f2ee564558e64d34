import { credential } from '../../api/credential.ts';
import { t } from '../../strings.ts';

/** What the form reads of a JSON Schema; the rest of the schema is checked where the value is stored. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly items?: FormSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly writeOnly?: boolean;
  readonly 'x-secret'?: boolean;
  /** Who may write it: a scope, `keyonly` or `root`; with the reason. */
  readonly 'x-class'?: string;
  readonly 'x-reason'?: string;
}

export type Kind = 'choice' | 'switch' | 'number' | 'secret' | 'text' | 'lines' | 'json';

export function kindOf(schema: FormSchema): Kind {
  const types = typesOf(schema).filter((type) => type !== 'null');
  if (isSecret(schema)) return 'secret';
  if (schema.enum !== undefined) return 'choice';
  const [only] = types;
  if (types.length !== 1) return 'json';
  if (only === 'boolean') return 'switch';
  if (only === 'integer' || only === 'number') return 'number';
  if (only === 'string') return 'text';
  return only === 'array' && typesOf(schema.items ?? {}).join() === 'string' ? 'lines' : 'json';
}

export function isSecret(schema: FormSchema): boolean {
  return schema['x-secret'] === true || schema.writeOnly === true;
}

export function typesOf({ type }: FormSchema): readonly string[] {
  return type === undefined ? [] : typeof type === 'string' ? [type] : type;
}

/** A value as it is edited. Of a secret nothing is shown. */
export function textOf(kind: Kind, value: unknown): string {
  if (kind === 'secret' || value === undefined || (value === null && kind !== 'json')) return '';
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  if (kind === 'json') return JSON.stringify(value, null, 1);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The value that a text stands for. @throws SyntaxError where it is to be JSON and is none */
export function valueOf(kind: Kind, text: string, schema: FormSchema): unknown {
  switch (kind) {
    case 'choice':
      return (schema.enum ?? []).find((each) => textOf('choice', each) === text);
    case 'switch':
      return text === 'true';
    case 'number':
      return text.trim() === '' ? null : Number(text);
    case 'lines':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'json':
      return JSON.parse(text);
    case 'text':
    case 'secret':
      return text;
  }
}

/** A value in a sentence, for example a default. */
export function shown(value: unknown): string {
  if (value === '' || value === null || (Array.isArray(value) && value.length === 0)) return t.form.empty;
  if (typeof value === 'boolean') return value ? t.form.on : t.form.off;
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The limits that a person should know before they try. */
export function limitsOf({ minimum, maximum, maxItems, items }: FormSchema): string | null {
  if (minimum !== undefined && maximum !== undefined) return t.form.between({ low: minimum, high: maximum });
  if (minimum !== undefined) return t.form.atLeast({ low: minimum });
  if (maximum !== undefined) return t.form.atMost({ high: maximum });
  return items === undefined || maxItems === undefined ? null : t.form.lines({ most: maxItems });
}

/** Why this caller may not write it; null: the node decides. */
export function closedTo({ 'x-class': needs, 'x-reason': reason }: FormSchema): string | null {
  const held = credential.value;
  const because = reason === undefined ? '' : ` ${t.form.reason({ text: reason })}`;
  if (needs === 'root') return `${t.form.rootOnly}${because}`;
  if (needs === undefined || held === null || held.kind === 'key') return null;
  if (needs === 'keyonly') return `${t.denied['key-only']}${because}`;
  return held.kind === 'session' || held.scopes.some((scope) => scope === needs)
    ? null
    : `${t.denied.scope}${because}`;
}
