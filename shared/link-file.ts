/** Where systemd reads what is set on an interface when it appears (systemd.link(5)). */
export const LINK_FOLDER = '/etc/systemd/network';

/** The file that pins the MAC address of an interface. */
export function linkFileName(iface: string): string {
  return `10-svc-${iface}.link`;
}

/**
 * A .link file. The first file that matches counts alone, so it repeats the rule for names of systemd's own 99-default.link.
 * @param path ID_PATH of udev, which a change of the name does not change; null: the kernel's name
 */
export function linkFile(iface: string, mac: string, path: string | null): string {
  const match = path === null ? `OriginalName=${iface}` : `Path=${path}`;
  return [
    '# Written by svc: svc network mac',
    '[Match]',
    match,
    '',
    '[Link]',
    'NamePolicy=keep kernel database onboard slot path',
    'MACAddressPolicy=none',
    `MACAddress=${mac}`,
    '',
  ].join('\n');
}

/** The address that such a file pins, null if it has none. */
export function pinnedMac(text: string): string | null {
  return /^MACAddress=([0-9a-f:]{17})$/im.exec(text)?.[1]?.toLowerCase() ?? null;
}
