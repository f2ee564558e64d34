/** Runs changes of a store, each line of stdin one `Wanted`, each line of stdout its `Outcome`. */

import { createInterface } from 'node:readline';
import { EndedCredentials } from '../../front/control/stores/ended.ts';
import { PairingStore } from '../../front/control/stores/pairing.ts';
import { PinStore } from '../../front/control/stores/pin.ts';
import { TokenStore } from '../../front/control/stores/tokens.ts';
import { ConfigStore } from '../../residual/app/config/store.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { failAtStep, stepsDone } from './failing-writes.ts';
import { silentLog } from './pin-stores.ts';
import { DEVICE, PAIRING_KEY } from './token-stores.ts';

export interface Wanted {
  readonly name: string;
  /** That of all files. */
  readonly dir: string;
  /** Which call of the file system fails, and how, as `failAtStep` has them. */
  readonly at: number;
  readonly how: string;
}

export interface Outcome {
  readonly output: string;
  readonly steps: readonly string[];
}

const lived = { id: '0123456789abcdef', now: () => performance.now() };
const clocks = { now: Date.now, monotonic: lived.now, lived, log: silentLog };
const OPERATIONS: Readonly<Record<string, (paths: Paths) => Promise<unknown>>> = {
  claim: async (paths) => {
    const store = new PairingStore({ ...clocks, file: paths.pairing, onChange: () => undefined });
    await store.start();
    return store.claim('operator', null, false);
  },
  mint: async (paths) =>
    tokensOf(paths).mint({ label: 'new', scopes: ['read'], ttlMs: null, allowedNodes: [] }),
  revoke: async (paths) => {
    const tokens = tokensOf(paths);
    return tokens.revoke(tokens.status().tokens[0]?.token_id ?? '');
  },
  'revoke-all': async (paths) => tokensOf(paths).revokeAll(),
  pin: async (paths) => {
    const store = new PinStore({
      ...clocks,
      file: paths.dashboardPin,
      onChange: async () => Promise.resolve(),
    });
    await store.start();
    return store.set('13579', { trusted: true });
  },
  config: async (paths) => new ConfigStore(paths).write('agent.name', 'after'),
};

function tokensOf(paths: Paths): TokenStore {
  return new TokenStore({
    file: paths.mcpToken,
    ended: new EndedCredentials(paths.ended, silentLog),
    accept: true,
    pairingKey: () => PAIRING_KEY,
    deviceId: DEVICE,
    now: Date.now,
    lived,
    log: silentLog,
  });
}

async function run({ name, dir, at, how }: Wanted): Promise<Outcome> {
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(`${name} is none of ${Object.keys(OPERATIONS).join(', ')}`);
  const paths = pathsFrom({ SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, SVC_RUN_DIR: dir });
  failAtStep(at, how);
  const output = await operation(paths).then(
    () => 'done',
    (error: unknown) => `failed ${error instanceof Error ? error.message : String(error)}`,
  );
  return { output, steps: stepsDone() };
}

for await (const line of createInterface(process.stdin))
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line) as Wanted))}\n`);
process.exit(); // stores watch their files
