/**
 * A sentence without its full stop: `items[3].lat must be from -90 to 90`.
 * @param violation `path` is a JSON Pointer
 * @param whole what is wrong where the path is empty: `The body`
 */
export function faultOf(
  { path, message }: { readonly path: string; readonly message: string },
  whole: string,
): string {
  const place = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (before, part) =>
        /^\d+$/.test(part) ? `${before}[${part}]` : `${before}${before === '' ? '' : '.'}${part}`,
      '',
    );
  return `${place === '' ? whole : place} ${message}`;
}
