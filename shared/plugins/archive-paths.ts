/** Longest path of a file in an archive; with the folder that it is unpacked to it must fit into the kernel's 4096. */
export const MAX_PATH = 240;

/** Why a name in an archive is refused; null for a plain relative path of safe characters. A folder's name ends with a slash. */
export function pathProblem(name: string): string | null {
  if (name.length === 0) return 'an entry has no name';
  const shown = JSON.stringify(name.slice(0, MAX_PATH));
  if (name.length > MAX_PATH) return `the name ${shown} has more than ${MAX_PATH} characters`;
  if (name.includes('\\')) return `the name ${shown} has a backslash`;
  if (name.startsWith('/')) return `the name ${shown} is an absolute path`;
  if (!/^[A-Za-z0-9._/-]+$/.test(name))
    return `the name ${shown} has characters other than letters, digits, dot, underscore, hyphen and slash`;
  const segments = (name.endsWith('/') ? name.slice(0, -1) : name).split('/');
  if (segments.some((segment) => segment.startsWith('..')))
    return `the name ${shown} has a part that begins with ..`;
  if (segments.some((segment) => segment === '' || segment === '.'))
    return `the name ${shown} has a part that is empty or a dot`;
  return null;
}

/** A path of a file as a manifest may name it. */
export function isArchivePath(path: string): boolean {
  return pathProblem(path) === null && !path.endsWith('/');
}

/** `a/b` and `a` of `a/b/c`. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
