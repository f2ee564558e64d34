import type { FromSchema } from 'json-schema-to-ts';
import type { hotspot, joinRequest } from '../../../shared/schemas/network.ts';

/** What the first boot needs of the machine's network; front/machine/network has it. */

type HotspotView = FromSchema<typeof hotspot>;

export interface Uplink {
  readonly name: string;
  /** `ethernet`, `wifi`, `gsm`, … */
  readonly kind: string;
  readonly managed: boolean;
  readonly connected: boolean;
  /** The active connection, also while it comes up. */
  readonly uuid: string | null;
  readonly addresses: readonly string[];
}

export interface MachineNetwork {
  readonly nmcli: {
    devices(): Promise<readonly Uplink[]>;
    wifiProfiles(): Promise<readonly { readonly ssid: string; readonly hotspot: boolean }[]>;
  };
  readonly hotspot: {
    look(): Promise<HotspotView>;
    prepare(ssid: string | null, passphrase: string | null): Promise<void>;
    openForSetup(): Promise<HotspotView>;
    keep(): Promise<void>;
    end(): Promise<void>;
  };
  readonly network: { join(request: FromSchema<typeof joinRequest>): Promise<unknown> };
}
