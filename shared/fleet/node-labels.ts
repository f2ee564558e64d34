import type { NodeTags } from './hub-api.ts';

/** Before the name of a group, among what rights and lists name. */
export const GROUP = 'group:';
export const NO_LABELS: ReadonlySet<string> = new Set();

/** What rights and lists name of a node with these. */
export function labelsOf({ tags = [], group = null }: Partial<NodeTags>): ReadonlySet<string> {
  if (tags.length === 0 && group === null) return NO_LABELS; // of most: one is enough
  return new Set(group === null ? tags : [...tags, `${GROUP}${group}`]);
}
