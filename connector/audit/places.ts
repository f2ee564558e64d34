import { join, parse } from 'node:path';

/** The files of the audit: `audit.ndjson`, and `audit-2.ndjson` and so on for connectors that run at the same time. */

/** How many files each connector keeps: the open one and those before it. */
export const AUDIT_FILES = 4;
/** How many connectors may share a path. */
const MAX_CONNECTORS = 16;

/** The open file of each connector with this path, whether it exists or not. */
export function placesOf(path: string): readonly string[] {
  const { dir, name, ext } = parse(path);
  return Array.from({ length: MAX_CONNECTORS }, (_, index) =>
    index === 0 ? path : join(dir, `${name}-${index + 1}${ext}`),
  );
}

/** The key that signs the head of the chain; readable only by this user, like the file itself. */
export function keyFileOf(place: string): string {
  return `${place}.key`;
}
