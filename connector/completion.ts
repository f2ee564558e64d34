import { Denial } from './denial.ts';
import type { Plane } from './planes/plane.ts';
import type { Principal } from './principal.ts';
import { asRecord } from './rows.ts';

/** Suggests values for the arguments of prompts and resource addresses: nodes, parameters, services, extensions. */

interface Reference {
  readonly type: string;
  readonly uri?: string;
}

/** @returns every value that starts with the typed text; none if the node does not answer */
export async function completeValue(
  plane: Plane,
  principal: Principal,
  ref: Reference,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string[]> {
  const typed = argument.value.toLowerCase();
  const fits = (value: string): boolean => value.toLowerCase().startsWith(typed);
  if (argument.name === 'node')
    return plane.nodes
      .filter(({ target: { id, name } }) => fits(id) || (name !== null && fits(name)))
      .map(({ target }) => target.id);
  try {
    const node = plane.resolve(known['node'], principal);
    const get = async (path: string): Promise<unknown> =>
      node.json({ method: 'GET', path }, principal, signal);
    if (ref.uri?.includes('/params/') === true)
      return Object.keys(asRecord(asRecord(await get('/api/params'))['params'])).filter(fits);
    if (ref.uri?.includes('/services/') === true)
      return namesIn(asRecord(await get('/api/services'))['services'], 'name').filter(fits);
    if (ref.uri?.includes('/plugins/') === true)
      return namesIn(asRecord(await get('/api/plugins'))['installs'], 'plugin_id').filter(fits);
    return [];
  } catch (error) {
    if (error instanceof Denial) return []; // completion is optional
    throw error;
  }
}

function namesIn(list: unknown, member: string): string[] {
  if (!Array.isArray(list)) return [];
  return list.map((each) => asRecord(each)[member]).filter((name) => typeof name === 'string');
}
