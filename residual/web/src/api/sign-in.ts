import { t } from '../strings.ts';
import { call, Refused } from './client.ts';
import { type Credential, credential, hold } from './credential.ts';
import type { Answer } from './rows.ts';

/** What the node gives for a PIN or a key, and what this browser keeps of it. */

type OpenedSession = Pick<Answer<'dashboard.pin.verify.post'>, 'session'>;

/** Goes on with this session instead of the one before. @param keep as in `hold` */
export function holdSession({ session }: OpenedSession, keep?: boolean): void {
  const next = { kind: 'session', value: session } as const;
  const held = credential.value;
  hold(held?.kind === 'key' ? { ...held, session: next } : next, keep);
}

/** Signs in with the pairing key: trades it for the session that a reload leaves; the key itself stays in memory. @throws Refused */
export async function holdKey(value: string, keep?: boolean): Promise<void> {
  const opened = await byKey(value, async (as) =>
    call('dashboard.pin.verify.post', { body: {}, as, here: true }),
  );
  const session = { kind: 'session', value: opened.session } as const;
  hold({ kind: 'key', value, session }, keep);
}

/** Adds the key to the session of this tab, for what only the key opens; a reload takes it away again. @throws Refused */
export async function addKey(value: string): Promise<void> {
  const held = credential.value;
  if (held?.kind !== 'session') return holdKey(value);
  await byKey(value, async (as) => call('status.get', { as, here: true }));
  hold({ kind: 'key', value, session: held });
}

/** The key that the node has just made. It is good whether or not the node can be asked for a session now. */
export async function holdNewKey(value: string): Promise<void> {
  hold({ kind: 'key', value, session: null });
  await holdKey(value).catch(() => undefined); // then a reload asks for it
}

/** Ends the session of this tab on the node. @throws Refused */
export async function endSession(): Promise<void> {
  const held = credential.value;
  const own = held?.kind === 'key' ? held.session : held;
  if (own?.kind !== 'session') return;
  const { sessions } = await call('dashboard.sessions.get', { as: own, here: true });
  const id = sessions.find(({ current }) => current)?.id;
  if (id !== undefined) await call('dashboard.sessions.id.delete', { params: { id }, as: own, here: true });
}

async function byKey<T>(value: string, ask: (as: Credential) => Promise<T>): Promise<T> {
  try {
    return await ask({ kind: 'key', value, session: null });
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'E_UNAUTHENTICATED') throw error;
    throw new Refused(401, error.code, t.signIn.wrong);
  }
}
