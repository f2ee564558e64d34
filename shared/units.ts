import type { Profile } from './profile.ts';

/**
 * The only units, besides our own processes, that can be listed and restarted over the API: the radio, the hotspot, the Wi-Fi
 * client.
 */
export const UNITS = [
  'svc-wfb',
  'svc-wfb-rx',
  'svc-wfb-relay',
  'svc-wfb-receiver',
  'svc-hostapd',
  'svc-wifi-client',
] as const;
export type Unit = (typeof UNITS)[number];

/** Units whose restart interrupts the link to the vehicle (docs/contract/node.md#processes). */
const LINK_UNITS: Readonly<Record<Profile, readonly string[]>> = {
  drone: ['svc-link', 'svc-supervisor'],
  'ground-station': ['svc-link', 'svc-supervisor', ...UNITS.filter((unit) => unit.startsWith('svc-wfb'))],
};

/** @param unit as `unitName` writes it */
export function carriesLink(unit: string, profile: Profile): boolean {
  return LINK_UNITS[profile].includes(unit);
}

/** `svc-link` for `link`, `SVC_Link.service` and the like: one spelling for the guard, the class and the restart. */
export function unitName(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/\.service$/, '')
    .replaceAll(/[_. ]/g, '-');
  return plain.startsWith('svc-') ? plain : `svc-${plain}`;
}
