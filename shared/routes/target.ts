/** The target of a request: the path of a row with its parameters filled in, and a query. */

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The names of the parameters of a path. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `*${infer Plain}` ? Plain : Name) | PathParams<Rest>
  : never;

/** The canonical spelling of `value` as path segments: all but unreserved characters and slashes as %XX. */
export function encodePathValue(value: string): string {
  return encodeURIComponent(value)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
}

/** @param path of a row, as `/api/params/{name}`; a value keeps its slashes only in `{*rest}` */
export function filledPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\*?)([a-z_]+)\}/g, (_, rest: string, name: string) => {
    const value = encodePathValue(params[name] ?? '');
    return rest === '' ? value.replaceAll('/', '%2F') : value;
  });
}

/** `?` and the members; true is 1, and what is null, undefined or false is left out. Empty without any. */
export function queryText(query: Query): string {
  const members = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null || value === false
      ? []
      : [[name, value === true ? '1' : String(value)]],
  );
  return members.length === 0 ? '' : `?${new URLSearchParams(members).toString()}`;
}
