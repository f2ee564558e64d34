import type { ComponentMetadata, MetadataKind } from '../metadata/component-metadata.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { MetadataStore } from './metadata-store.ts';

/** COMP_METADATA_TYPE_PARAMETER */
const TYPE_PARAMETER = 1;

interface DescriptionsOptions {
  readonly vehicle: Vehicle;
  readonly metadata: ComponentMetadata;
  readonly store: MetadataStore;
}

/**
 * The vehicle's own descriptions of its parameters, as a file. It is kept as it came: who reads it unpacks it
 * (front/control/param-metadata/), so that this process stays small.
 */
export class Descriptions {
  /** Name of the file, below the store's directory; null without one. */
  file: string | null = null;
  readonly #options: DescriptionsOptions;
  readonly #kind: MetadataKind;

  constructor(options: DescriptionsOptions) {
    const { store } = options;
    this.#options = options;
    this.#kind = {
      type: TYPE_PARAMETER,
      lack: 'parameters of the vehicle are not described',
      has: async (crc) => {
        for (const name of [this.#nameOf(crc, true), this.#nameOf(crc, false)]) {
          if (!(await store.has(name))) continue;
          this.file = name;
          return true;
        }
        return false;
      },
      take: async (file, path, crc) => {
        const name = this.#nameOf(crc, path.endsWith('.xz'));
        await store.write(name, file);
        this.file = name;
      },
    };
  }

  /** ArduPilot has no descriptions on board. */
  want(): void {
    const { vehicle, metadata } = this.#options;
    if (vehicle.firmware !== 'ardupilot') metadata.want(this.#kind);
  }

  /** It is another vehicle. */
  forget(): void {
    this.file = null;
  }

  /** By the checksum that the vehicle gives, or else by its own id: then it is read anew in each session. */
  #nameOf(crc: number, packed: boolean): string {
    const uid = this.#options.vehicle.version?.uid?.replaceAll(/[^0-9a-f]/g, '') ?? 'unknown';
    return `${crc === 0 ? uid : crc.toString(16).padStart(8, '0')}.json${packed ? '.xz' : ''}`;
  }
}
