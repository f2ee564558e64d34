import { computed, signal } from '@preact/signals';
import { mayUse } from '../../../../shared/routes/may.ts';
import type { RowId } from '../../../../shared/routes/table.ts';
import { t } from '../strings.ts';
import { call, Refused } from './client.ts';
import { credential, lose } from './credential.ts';
import { relayed } from './relay.ts';
import { type Answer, ROW, type SlimRow } from './rows.ts';

/** The node that the page shows: who it is, what it serves, and what this caller may do there. */

export const info = signal<Answer<'pairing.info.get'> | null>(null);
/** Features that are on; null before the node told. */
const features = signal<ReadonlySet<string> | null>(null);

/**
 * `in`: the node answers this caller. `signin`: it wants a credential. `refused`: it takes none from where this browser is. `outdated`: it
 * runs another version than this page, whose words it may not understand.
 */
export type Entry =
  | { readonly state: 'checking' | 'in' | 'signin' | 'outdated' }
  | { readonly state: 'refused'; readonly why: string };
export const entry = signal<Entry>({ state: 'checking' });

/** Of the node that served this page; null of one that is being developed (residual/web/installable.ts). */
const PAGE_VERSION = document.querySelector('meta[name=svc-version]')?.getAttribute('content') ?? null;

/** Asks who the node is and whether it answers this caller. @throws Refused with status 0 while it does not answer */
export async function enter(): Promise<void> {
  const [who, version] = await Promise.all([call('pairing.info.get'), call('version.get')]);
  info.value = who;
  features.value = new Set(
    version.capabilities.flatMap((word) =>
      word.startsWith('feature.') ? [word.slice('feature.'.length)] : [],
    ),
  );
  // What a drone behind the relay runs is its own business.
  if (relayed.value === null && PAGE_VERSION !== null && version.agent_version !== PAGE_VERSION)
    return go({ state: 'outdated' });
  // What it says of a token it has not looked at; the others need not be refused to know.
  if (who.entry !== 'open' && credential.value?.kind !== 'token') {
    if (credential.value !== null) lose('ended');
    return go(who.entry === 'nearer' ? { state: 'refused', why: t.signIn.nearer } : { state: 'signin' });
  }
  try {
    await call('status.get');
    go({ state: 'in' });
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 0) throw error;
    if (error.code === 'E_REMOTE') go({ state: 'refused', why: error.message });
    else go({ state: error.status === 401 || error.status === 403 ? 'signin' : 'in' });
  }
}

/** The same state again is no news: what hangs on it, as the sockets, goes on. */
function go(next: Entry): void {
  if (next.state !== entry.peek().state) entry.value = next;
}

/** Why a row is not for this caller; null: it may be asked. What the body names is the node's to judge. */
export function denied(id: RowId): 'not-built' | 'not-here' | 'key-only' | 'scope' | 'relay' | null {
  const row = ROW[id];
  if (!row.built) return 'not-built';
  if (!isHere(row)) return 'not-here';
  if (relayed.value !== null && row.relay === 'forbid') return 'relay';
  const held = credential.value;
  // Without a credential the node lets only those in who are near while it is unpaired.
  const caller = { kind: held?.kind ?? 'gate', scopes: held?.kind === 'token' ? held.scopes : null } as const;
  if (mayUse(row, caller)) return null;
  return row.access === 'keyonly' ? 'key-only' : 'scope';
}

/** Whether the page offers it. */
export function may(id: RowId): boolean {
  return denied(id) === null;
}

export const isGround = computed(() => relayed.value === null && info.value?.profile === 'ground-station');

function isHere({ profiles, feature }: SlimRow): boolean {
  // A drone behind the relay has its own features; what it lacks it answers with 501.
  if (relayed.value !== null) return profiles !== 'G';
  if (profiles !== 'DG' && profiles !== (info.value?.profile === 'ground-station' ? 'G' : 'D')) return false;
  return features.value === null || features.value.size === 0 || features.value.has(feature);
}
