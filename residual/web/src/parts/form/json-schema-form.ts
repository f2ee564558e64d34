import { choicesOf } from '../../../../../shared/config/settings.ts';
import { credential } from '../../api/credential.ts';
import { armed } from '../../api/telemetry.ts';
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
  readonly 'x-topics'?: readonly (readonly [id: string, title: string])[];
  readonly 'x-topic'?: string;
  readonly 'x-unit'?: string;
  readonly 'x-words'?: readonly string[];
  readonly 'x-ordered'?: boolean;
  readonly 'x-restart'?: readonly string[];
  readonly 'x-armed'?: string;
  /** Secrets that are cleared when it changes. */
  readonly 'x-sends'?: readonly string[];
  readonly 'x-secret'?: boolean;
  /** Who may write it: a scope, `keyonly` or `root`; with the reason. */
  readonly 'x-class'?: string;
  readonly 'x-reason'?: string;
}

export type Kind = 'choice' | 'switch' | 'number' | 'secret' | 'text' | 'lines' | 'set' | 'json' | 'raw';

export function kindOf(schema: FormSchema): Kind {
  const types = typesOf(schema).filter((type) => type !== 'null');
  if (isSecret(schema)) return 'secret';
  if (schema.enum !== undefined) return 'choice';
  if (types.join() === 'array') {
    const { enum: choices, type } = schema.items ?? {};
    if (choices !== undefined && schema['x-ordered'] !== true) return 'set';
    return choices !== undefined || type === 'string' ? 'lines' : 'json';
  }
  if (types.join() === 'boolean') return 'switch';
  if (types.join() === 'integer' || types.join() === 'number') return 'number';
  return types.includes('string') ? 'text' : 'json';
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
  if (kind === 'lines' || kind === 'set') return Array.isArray(value) ? value.join('\n') : '';
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
    case 'set':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'json':
      return JSON.parse(text);
    case 'text':
      return typesOf(schema).includes('integer') && /^\d+$/.test(text) ? Number(text) : text;
    case 'secret':
    case 'raw': // the node reads it as the type of the schema
      return text;
  }
}

/** A value in a sentence, for example a default. */
export function shown(value: unknown, schema: FormSchema, words: (text: string) => string): string {
  const word = choicesOf(schema).find(([choice]) => choice === value)?.[1];
  if (word !== undefined) return words(word);
  if (value === '' || value === null || (Array.isArray(value) && value.length === 0)) return t.form.empty;
  if (typeof value === 'boolean') return value ? t.form.on : t.form.off;
  if (Array.isArray(value)) return value.map((each) => shown(each, schema, words)).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is wrong with a text before the node sees it; null: nothing that can be known here. */
export function faultIn(kind: Kind, text: string, schema: FormSchema): string | null {
  if (kind === 'json') {
    try {
      JSON.parse(text);
    } catch {
      return t.form.noJson;
    }
  }
  if (kind !== 'number' || (text === '' && typesOf(schema).includes('null'))) return null;
  const value = text === '' ? Number.NaN : Number(text);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (Number.isNaN(value)) return t.form.noNumber;
  if (typesOf(schema).includes('integer') && !Number.isInteger(value)) return t.form.noWhole;
  return value < minimum || value > maximum ? t.form.outside({ limits: limitsOf(schema) ?? '' }) : null;
}

/** The limits that a person should know before they try. */
export function limitsOf({ minimum, maximum, maxItems, items }: FormSchema): string | null {
  if (minimum !== undefined && maximum !== undefined) return t.form.between({ low: minimum, high: maximum });
  if (minimum !== undefined) return t.form.atLeast({ low: minimum });
  if (maximum !== undefined) return t.form.atMost({ high: maximum });
  return items === undefined || maxItems === undefined ? null : t.form.lines({ most: maxItems });
}

/** Why it cannot be written now, or not by this caller; null: the node decides. */
export function closedTo(schema: FormSchema, words: (text: string) => string): string | null {
  const { 'x-class': needs, 'x-reason': reason } = schema;
  const held = credential.value;
  const because = reason === undefined ? '' : ` ${t.form.reason({ text: words(reason) })}`;
  if (needs === 'root') return `${t.form.rootOnly}${because}`;
  if (needs !== undefined && held !== null && held.kind !== 'key') {
    if (needs === 'keyonly') return `${t.denied['key-only']}${because}`;
    if (held.kind === 'token' && !held.scopes.some((scope) => scope === needs))
      return `${t.denied.scope}${because}`;
  }
  return schema['x-armed'] === 'guard' && armed.value === true ? t.form.isArmed : null;
}
