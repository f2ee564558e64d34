import { isChanged, type Param } from '../../../vehicle/param.ts';

/** The tree of the parameters: families, and the groups of those that have several (`SERVO`: `SERVO1`, `SERVO2`, …). */

export interface Group {
  readonly name: string;
  readonly count: number;
  readonly changed: number;
}

export interface GroupFamily extends Group {
  /** None where the family is one group. */
  readonly groups: readonly Group[];
}

/** The group of a parameter without what its description ends it with, `WPNAV_`. */
export function groupOf({ group }: Param): string {
  return group.replace(/_+$/, '');
}

/** `SERVO12` is of the family `SERVO`. */
export function familyName(group: string): string {
  const name = group.replace(/\d+$/, '');
  return name === '' ? group : name;
}

/** Whether a parameter is in a group or in a family. */
export function isIn(param: Param, chosen: string): boolean {
  const group = groupOf(param);
  return group === chosen || familyName(group) === chosen;
}

export function familiesOf(params: readonly Param[]): readonly GroupFamily[] {
  const groups = new Map<string, { count: number; changed: number }>();
  for (const param of params) {
    const name = groupOf(param);
    const group = groups.get(name) ?? { count: 0, changed: 0 };
    group.count++;
    if (isChanged(param) === true) group.changed++;
    groups.set(name, group);
  }
  const families = new Map<string, Group[]>();
  for (const [name, { count, changed }] of groups) {
    const family = familyName(name);
    families.set(family, [...(families.get(family) ?? []), { name, count, changed }]);
  }
  return [...families]
    .map(([name, members]) => ({
      name,
      count: members.reduce((sum, { count }) => sum + count, 0),
      changed: members.reduce((sum, { changed }) => sum + changed, 0),
      groups: members.length < 2 ? [] : members.toSorted((a, b) => collator.compare(a.name, b.name)),
    }))
    .toSorted((a, b) => collator.compare(a.name, b.name));
}

/** `RC2` before `RC10`. */
const collator = new Intl.Collator('en', { numeric: true });
