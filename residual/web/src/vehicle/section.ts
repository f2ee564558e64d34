import { hrefOf, place } from '../app/route.ts';

/** The section of a tab that the address names: `#/vehicle/setup/radio`, or an older address of one section, `#/vehicle/signing`. */
export function sectionOf<Id extends string>(
  ids: readonly Id[],
  older: Readonly<Record<string, Id>>,
  first: Id,
): Id {
  const [tab = '', section = ''] = place.value.rest;
  return (Object.hasOwn(older, tab) ? older[tab] : undefined) ?? ids.find((id) => id === section) ?? first;
}

export function sectionHref(tab: string, section: string): string {
  return hrefOf('vehicle', tab, section);
}
