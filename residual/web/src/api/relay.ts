import { signal } from '@preact/signals';

/** The drone behind this ground station whose pages are looked at; null: the node itself. */
export const relayed = signal<{ readonly deviceId: string; readonly name: string } | null>(null);

export function throughRelay(path: string): string {
  const drone = relayed.value;
  return drone === null
    ? path
    : `/api/v1/ground-station/relay-proxy/${encodeURIComponent(drone.deviceId)}${path}`;
}
