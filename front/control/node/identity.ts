import { hostLabel } from '../../../shared/first-boot/host-label.ts';

/** How the node is called. */
export interface Identity {
  readonly device_id: string;
  readonly name: string;
  /** `svc-xxxxxx.local` */
  readonly mdns_host: string;
}

/** @param name from the config; empty: made from the device id */
export function identityOf(deviceId: string, name: string): Identity {
  const short = deviceId.slice(0, 6);
  return {
    device_id: deviceId,
    name: name === '' ? `svc-${short}` : name,
    mdns_host: `svc-${short}.local`,
  };
}

/** What its name makes of it, `field-drone.local`; or the same as `mdns_host`. */
export function ownHostOf(deviceId: string, name: string): string {
  return `${hostLabel(deviceId, name)}.local`;
}
