import { Denial } from './denial.ts';
import { askOf } from './planes/ask.ts';
import type { Plane } from './planes/plane.ts';
import type { Principal } from './principal.ts';

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
    const ask = askOf(node, principal, signal);
    if (ref.uri?.includes('/params/') === true)
      return Object.keys((await ask('params.get')).params ?? {}).filter(fits);
    if (ref.uri?.includes('/services/') === true)
      return ((await ask('services.get')).services ?? []).map(({ name }) => name).filter(fits);
    if (ref.uri?.includes('/plugins/') === true)
      return ((await ask('plugins.get')).installs ?? []).map(({ plugin_id: id }) => id).filter(fits);
    return [];
  } catch (error) {
    if (error instanceof Denial) return []; // completion is optional
    throw error;
  }
}
