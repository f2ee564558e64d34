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
  const members = typeof old === 'object' && old !== null ? (old as Readonly<Record<string, unknown>>) : {};
  return { ...members, [name]: replaced(members[name], rest, value) };
}
