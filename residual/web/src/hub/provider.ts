import type { Minted } from './answers.ts';
import { ask, signIn } from './client.ts';

/** Signing in at a provider (OpenID Connect), which sends the browser back to this page with its answer in the query. */

/** Where this tab was when it left. */
const PLACE = 'svc-hub-place';

/** GET /v1/sign-in; null: there is no provider. */
export interface Offered {
  readonly provider: { readonly name: string; readonly page_url: string } | null;
}

/** What the provider has sent this tab back with; taken out of the address, as it is good once. */
export const answer = takeAnswer();

/** To the provider. @throws Refused */
export async function leave(): Promise<void> {
  const { url } = await ask<{ readonly url: string }>('/v1/sign-in', { method: 'POST' });
  sessionStorage.setItem(PLACE, location.hash);
  location.assign(url);
}

/** With the answer of the provider. The credential is this tab's, until it ends. @throws Refused */
export async function enter(text: string): Promise<void> {
  const { credential } = await ask<Minted>('/v1/sign-in/answer', { method: 'POST', body: { answer: text } });
  await signIn(credential, sessionStorage);
}

function takeAnswer(): string | null {
  const { search, pathname } = location;
  if (!new URLSearchParams(search).has('state')) return null;
  history.replaceState(null, '', pathname);
  const hash = sessionStorage.getItem(PLACE) ?? '';
  sessionStorage.removeItem(PLACE);
  if (hash !== '') location.replace(hash);
  return search.slice(1);
}
