import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { JsonFile } from '../../../shared/json-file.ts';
import type { JsonSchema } from '../../../shared/schemas/json-schema.ts';
import { APN, PIN, PPP_NAME, PPP_PASSWORD } from '../../../shared/schemas/network-operation.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';

/** More modems than a machine ever had: the oldest is forgotten. */
const MAX_MODEMS = 16;
const HASH_BYTES = 32;

/** How a modem is connected; what is not there was never given. */
export interface ModemSettings {
  readonly enabled: boolean;
  readonly apn?: string;
  readonly username?: string;
  readonly password?: string;
  readonly allow_roaming?: boolean;
  /** A PIN that has unlocked a SIM, and which SIM that was: no other SIM is asked with it. */
  readonly pin?: string;
  readonly card?: string;
}

/** A PIN that was tried, and did not unlock this SIM as far as is known. */
interface TriedPin {
  readonly card: string;
  readonly salt: string;
  readonly hash: string;
}

interface Stored {
  readonly version: 1;
  readonly modems: readonly (ModemSettings & { readonly identifier: string })[];
  readonly tried: TriedPin | null;
}

const text = { type: 'string', minLength: 1, maxLength: 128 } as const;

const SCHEMA = {
  type: 'object',
  required: ['version', 'modems', 'tried'],
  properties: {
    version: { const: 1 },
    modems: {
      type: 'array',
      maxItems: MAX_MODEMS,
      items: {
        type: 'object',
        required: ['identifier', 'enabled'],
        properties: {
          identifier: text,
          enabled: { type: 'boolean' },
          apn: APN,
          username: PPP_NAME,
          password: PPP_PASSWORD,
          allow_roaming: { type: 'boolean' },
          pin: PIN,
          card: text,
        },
      },
    },
    tried: {
      type: ['object', 'null'],
      required: ['card', 'salt', 'hash'],
      properties: {
        card: text,
        salt: { type: 'string', pattern: '^[0-9a-f]{32}$' },
        hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      },
    },
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(SCHEMA);

/**
 * What modems are connected with. A PIN that was refused is here as a hash only, until another one is tried, so that it is not tried
 * again after a restart either. Its functions throw ApiError E_STORE: a file that cannot be read forbids to try any PIN.
 */
export class ModemStore {
  readonly #file: JsonFile<Stored>;

  constructor(file: string) {
    this.#file = new JsonFile<Stored>(file, validate, { mode: 0o600 });
  }

  async all(): Promise<ReadonlyMap<string, ModemSettings>> {
    const { modems } = await this.#read();
    return new Map(modems.map(({ identifier, ...settings }) => [identifier, settings]));
  }

  async settings(identifier: string): Promise<ModemSettings | null> {
    return (await this.all()).get(identifier) ?? null;
  }

  async save(identifier: string, settings: ModemSettings): Promise<void> {
    const stored = await this.#read();
    const others = stored.modems.filter((each) => each.identifier !== identifier).slice(1 - MAX_MODEMS);
    await this.#file.store({ ...stored, modems: [...others, { ...settings, identifier }] });
  }

  /** Whether this PIN was tried last with this SIM, and has not unlocked it. */
  async wasTried(card: string, pin: string): Promise<boolean> {
    const { tried } = await this.#read();
    if (tried?.card !== card) return false;
    return timingSafeEqual(await hashOf(pin, tried.salt), Buffer.from(tried.hash, 'hex'));
  }

  /** To be called before a PIN is tried: whatever happens then, it is not tried again. */
  async trying(card: string, pin: string): Promise<void> {
    const salt = randomBytes(16).toString('hex');
    const hash = (await hashOf(pin, salt)).toString('hex');
    await this.#file.store({ ...(await this.#read()), tried: { card, salt, hash } });
  }

  /** It has unlocked the SIM. */
  async wasRight(): Promise<void> {
    await this.#file.store({ ...(await this.#read()), tried: null });
  }

  async #read(): Promise<Stored> {
    return (await this.#file.load()) ?? { version: 1, modems: [], tried: null };
  }
}

async function hashOf(pin: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(pin, Buffer.from(salt, 'hex'), HASH_BYTES, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
