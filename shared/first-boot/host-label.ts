const MAX_LABEL = 63;

/**
 * The host name of a node: its name as one label of DNS (RFC 1123), or `svc-` and the first six characters of its device id
 * where it has none, or one that leaves nothing.
 * @param name from the config; empty: none
 */
export function hostLabel(deviceId: string, name: string): string {
  const label = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LABEL)
    .replaceAll(/^-+|-+$/g, '');
  return label === '' || label === 'localhost' ? `svc-${deviceId.slice(0, 6)}` : label;
}
