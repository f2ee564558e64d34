/** Runs one change of a store in the directory SVC_ETC_DIR: `store-operation.ts claim|mint|revoke|revoke-all|pin|config`. */
import { EndedCredentials } from '../../front/control/stores/ended.ts';
import { PairingStore } from '../../front/control/stores/pairing.ts';
import { PinStore } from '../../front/control/stores/pin.ts';
import { TokenStore } from '../../front/control/stores/tokens.ts';
import { ConfigStore } from '../../residual/app/config/store.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { silentLog } from './pin-stores.ts';
import { DEVICE, PAIRING_KEY } from './token-stores.ts';

const paths = pathsFrom(process.env);
const lived = { id: '0123456789abcdef', now: () => performance.now() };
const clocks = { now: Date.now, monotonic: lived.now, lived, log: silentLog };
const tokens = new TokenStore({
  file: paths.mcpToken,
  ended: new EndedCredentials(paths.ended, silentLog),
  accept: true,
  pairingKey: () => PAIRING_KEY,
  deviceId: DEVICE,
  now: Date.now,
  lived,
  log: silentLog,
});

const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  claim: async () => {
    const store = new PairingStore({ ...clocks, file: paths.pairing, onChange: () => undefined });
    await store.start();
    return store.claim('operator', null, false);
  },
  mint: async () => tokens.mint({ label: 'new', scopes: ['read'], ttlMs: null, allowedNodes: [] }),
  revoke: async () => tokens.revoke(tokens.status().tokens[0]?.token_id ?? ''),
  'revoke-all': async () => tokens.revokeAll(),
  pin: async () => {
    const store = new PinStore({
      ...clocks,
      file: paths.dashboardPin,
      onChange: async () => Promise.resolve(),
    });
    await store.start();
    return store.set('13579', { trusted: true });
  },
  config: async () => new ConfigStore(paths).write('agent.name', 'after'),
};

const [name = ''] = process.argv.slice(2);
const operation = OPERATIONS[name];
if (operation === undefined) throw new Error(`${name} is none of ${Object.keys(OPERATIONS).join(', ')}`);
try {
  await operation();
  process.stdout.write('done');
} catch (error) {
  process.stdout.write(`failed ${error instanceof Error ? error.message : String(error)}`);
}
process.exit(0);
