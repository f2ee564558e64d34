import { isRecord, recordOf } from '../../../../shared/member.ts';
/**
 * What is to be stored so that the value under a dotted path is `value`: settings are stored by their first key, whole.
 * @param values all settings, by their first keys
 */
export function withMember(
  values: Readonly<Record<string, unknown>>,
  path: string,
  value: unknown,
): { readonly key: string; readonly value: unknown } {
  const [key = '', ...inner] = path.split('.');
  return { key, value: replaced(values[key], inner, value) };
}

function replaced(old: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const members = recordOf(old);
  return { ...members, [name]: replaced(members[name], rest, value) };
}

/** The values with the defaults of their schema where none is set. */
export function withDefaults(
  schema: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const defaults = Object.entries(recordOf(schema['properties'])).flatMap(([name, inner]) => {
    const member = recordOf(inner);
    const value = values[name];
    if (typeof member['properties'] === 'object' && (value === undefined || isRecord(value)))
      return [[name, withDefaults(member, value ?? {})]];
    return value === undefined && 'default' in member ? [[name, member['default']]] : [];
  });
  return { ...values, ...Object.fromEntries(defaults) };
}
