import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import type { JsonSchema } from '../../../shared/schemas/json-schema.ts';
import { INTERFACE } from '../../../shared/schemas/network-operation.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

export interface MeshConfig {
  readonly mesh_id: string | null;
  readonly carrier: '802.11s' | 'ibss';
  readonly channel: number;
}

/** What NetworkManager does not keep for the node. */
interface NetworkSettings {
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

const DEFAULTS: NetworkSettings = {
  share_uplink: false,
  priority: [],
  mesh: { mesh_id: null, carrier: '802.11s', channel: 1 },
};

/** The file of these settings. Its functions throw ApiError E_STORE. */
export class NetworkStore {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<NetworkSettings> {
    try {
      const text = await readPrivate(this.#file);
      if (text === null) return DEFAULTS;
      const value: unknown = JSON.parse(text);
      const wrong = validatorOf(SCHEMA)(value);
      if (wrong?.[0] !== undefined) throw new Error(faultOf(wrong[0], 'it'));
      return value as NetworkSettings;
    } catch (error) {
      throw new ApiError(
        'E_STORE',
        `${this.#file} cannot be read: ${messageOf(error)}. Correct or remove it.`,
      );
    }
  }

  async write(change: Partial<NetworkSettings>): Promise<NetworkSettings> {
    const settings = { ...(await this.read()), ...change };
    await writeAtomic(this.#file, JSON.stringify({ ...settings, version: 1 }), 0o600).catch(
      (error: unknown) => {
        throw new ApiError('E_STORE', `${this.#file} cannot be written: ${messageOf(error)}`);
      },
    );
    return settings;
  }
}
