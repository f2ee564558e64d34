import { pathToFileURL } from 'node:url';

/**
 * The address of a database that only this process opens, with as many connections as it likes. What these share is then in memory, not
 * in a mapped file `-shm`: to write into a mapped file of a disk that stands still holds not only the thread that does it, but with the
 * map of the process's memory every other one that asks for memory.
 */
export function ownDatabase(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('vfs', 'unix-excl');
  return url;
}
