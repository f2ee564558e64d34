import { JsonFile } from '../../../shared/json-file.ts';
import type { JsonSchema } from '../../../shared/schemas/json-schema.ts';
import { INTERFACE } from '../../../shared/schemas/network-operation.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';

export interface MeshConfig {
  readonly mesh_id: string | null;
  readonly carrier: '802.11s' | 'ibss';
  readonly channel: number;
}

/** What NetworkManager does not keep for the node. */
interface NetworkSettings {
  readonly version: 1;
  readonly share_uplink: boolean;
  /** Interfaces, the preferred uplink first. */
  readonly priority: readonly string[];
  readonly mesh: MeshConfig;
}

const SCHEMA = {
  type: 'object',
  required: ['version', 'share_uplink', 'priority', 'mesh'],
  properties: {
    version: { const: 1 },
    share_uplink: { type: 'boolean' },
    priority: { type: 'array', maxItems: 16, items: INTERFACE },
    mesh: {
      type: 'object',
      required: ['mesh_id', 'carrier', 'channel'],
      properties: {
        mesh_id: { type: ['string', 'null'], maxLength: 32 },
        carrier: { enum: ['802.11s', 'ibss'] },
        channel: { type: 'integer', minimum: 1, maximum: 13 },
      },
    },
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(SCHEMA);

const DEFAULTS: NetworkSettings = {
  version: 1,
  share_uplink: false,
  priority: [],
  mesh: { mesh_id: null, carrier: '802.11s', channel: 1 },
};

/** The file of these settings. Its functions throw ApiError E_STORE. */
export class NetworkStore {
  readonly #file: JsonFile<NetworkSettings>;

  constructor(file: string) {
    this.#file = new JsonFile(file, validate, { mode: 0o600 });
  }

  async read(): Promise<NetworkSettings> {
    return (await this.#file.load()) ?? DEFAULTS;
  }

  async write(change: Partial<NetworkSettings>): Promise<NetworkSettings> {
    const settings = { ...(await this.read()), ...change };
    await this.#file.store(settings);
    return settings;
  }
}
