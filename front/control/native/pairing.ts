import type { FromSchema } from 'json-schema-to-ts';
import type { Profile } from '../../../shared/profile.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { pairingRows } from '../../../shared/routes/pairing.ts';
import type { tlsPin } from '../../../shared/schemas/tls.ts';
import { entryOf } from '../edge/unpaired.ts';
import type { Identity } from '../node/identity.ts';
import type { PairingStore } from '../stores/pairing.ts';

export interface TlsOfNode {
  readonly pin: () => FromSchema<typeof tlsPin>;
  /** Takes a name that was chosen since the last look into the certificate. */
  readonly look: () => Promise<void>;
}

interface PairingDeps {
  readonly store: PairingStore;
  readonly identity: Identity;
  readonly profile: Profile;
  readonly version: string;
  readonly requireCode: boolean;
  /** What whoever pairs keeps, to know the node again by HTTPS. */
  readonly tls: TlsOfNode;
}

type Handlers = HandlersOf<typeof pairingRows, 'front'>;

/** The rows of the PIN and of tickets are in dashboard.ts. */
export function pairingHandlers(
  deps: PairingDeps,
): Pick<Handlers, Extract<keyof Handlers, `pairing.${string}`>> {
  const { store, identity } = deps;
  return {
    'pairing.info.get': ({ principal }) => ({
      paired: store.paired,
      ...identity,
      profile: deps.profile,
      version: deps.version,
      paired_at: store.pairedAt,
      code_required: deps.requireCode,
      entry: entryOf(principal, store.paired),
    }),

    'pairing.code.get': () => store.code(),

    'pairing.claim.post': async ({ body }) => {
      if (!store.paired) await deps.tls.look();
      return {
        api_key: await store.claim(body.user_id, body.code ?? null, deps.requireCode),
        ...identity,
        tls: deps.tls.pin(),
      };
    },

    'pairing.unpair.post': async () => {
      await store.unpair();
      return { paired: false };
    },
  };
}
