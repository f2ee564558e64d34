import { effect, signal, untracked } from '@preact/signals';
import { memberOf } from '../../../../shared/member.ts';
import { enter } from '../api/node.ts';
import { awaySeconds } from '../api/presence.ts';
import { trustScript } from '../parts/script-urls.ts';

/** The page as an app: kept by a service worker (worker/sw.ts) where the browser allows one, and told when there is another one. */

/** The node has another page than this one. */
export const newer = signal(false);

const build = document.querySelector('meta[name=svc-build]')?.getAttribute('content') ?? null;
const AWAY_S = 3;
/** For what is loaded by the page's own scripts. */
const SETTLED_MS = 1000;

/** Chromium forgets a worker's wish to begin that comes while the one before it still answers what a page loads. */
async function loaded(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

/** Begins with the page, once. */
export function keepPage(): void {
  let registration: ServiceWorkerRegistration | null = null;
  let wasAway = false;
  // A node that comes back may have been updated.
  effect(() => {
    const seconds = awaySeconds.value;
    if (seconds !== null) wasAway ||= seconds >= AWAY_S;
    else if (wasAway) {
      wasAway = false;
      untracked(async () => Promise.all([enter(), registration?.update()])).catch(() => undefined); // away again: the next answer asks again
    }
  });
  // There is none in the clear, nor in a page that is being developed.
  if (build === null || !window.isSecureContext || !('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  const introduce = (worker: ServiceWorker | null): void => worker?.postMessage({ build }, []);
  serviceWorker.addEventListener('message', ({ data }) => {
    if (memberOf(data, 'newer') === true) newer.value = true;
  });
  serviceWorker.addEventListener('controllerchange', () => introduce(serviceWorker.controller));
  const register = async (): Promise<void> => {
    registration = await serviceWorker.register(trustScript('/sw.js'), { updateViaCache: 'none' });
    registration.addEventListener('updatefound', () => {
      const worker = registration?.installing ?? null;
      worker?.addEventListener('statechange', () => {
        if (worker.state === 'installed') introduce(worker);
      });
    });
    await loaded();
    introduce(registration.waiting);
  };
  // A private window keeps nothing, nor does a browser that does not trust the certificate: the page works all the same.
  register().catch(() => undefined);
}
