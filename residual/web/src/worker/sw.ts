/**
 * Keeps the page in the browser, so that it opens without the node and says so. It holds the page's own files and nothing else: no answer
 * of the API, nothing that was asked for with a credential or a ticket. A classic script without imports, which every browser takes;
 * residual/web/installable.ts writes the names of the files and of this build into it.
 */
((): void => {
  interface Lasting extends Event {
    readonly waitUntil: (work: Promise<unknown>) => void;
  }
  interface Asked extends Lasting {
    readonly request: Request;
    readonly respondWith: (answer: Promise<Response>) => void;
  }
  interface Told extends Lasting {
    readonly data: { readonly build?: unknown } | null;
    readonly source: { readonly postMessage: (news: unknown) => void } | null;
  }
  /** What the types of a page do not have. */
  interface Worker {
    readonly skipWaiting: () => Promise<void>;
    readonly clients: { readonly claim: () => Promise<void> };
    addEventListener(name: 'install' | 'activate', heard: (event: Lasting) => void): void;
    addEventListener(name: 'fetch', heard: (event: Asked) => void): void;
    addEventListener(name: 'message', heard: (event: Told) => void): void;
  }

  const BUILD = '__BUILD__';
  const FILES: ReadonlySet<string> = new Set('__FILES__'.split(' '));
  const PREFIX = 'svc-page-';
  const KEPT = `${PREFIX}${BUILD}`;
  /** The one document of the page, at all its addresses. */
  const INDEX = '/';
  const ADDRESS = /^\/(?:setup(?:\/.*)?)?$/;
  /** For a node that is there; after it the page that was kept is shown, which goes on asking. */
  const LATE_MS = 3000;
  /** A file that does not come would cost the whole page: on the way there are busy nodes, and networks that change. */
  const TRIES = 4;
  const PAUSE_MS = 1500;

  const isWorker = (scope: object): scope is Worker => 'skipWaiting' in scope;
  const scope: object = globalThis;
  if (!isWorker(scope)) throw new Error('this is no service worker');

  const keepFile = async (cache: Cache, path: string): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await cache.add(path);
      } catch (error) {
        if (tries === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };

  const keep = async (): Promise<void> => {
    const cache = await caches.open(KEPT);
    await Promise.all([INDEX, ...FILES].map(async (path) => keepFile(cache, path)));
  };

  const forgetFormer = async (): Promise<void> => {
    const former = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== KEPT);
    await Promise.all(former.map(async (name) => caches.delete(name)));
    await scope.clients.claim();
  };

  const kept = async (path: string): Promise<Response | undefined> => (await caches.open(KEPT)).match(path);

  /** The node's own page while it answers, so that nobody goes on with an older one. */
  const page = async (request: Request): Promise<Response> => {
    const asked = fetch(request);
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), LATE_MS));
    const answer = await Promise.race([asked.catch(() => null), late]);
    // 0 is a redirect, which the browser follows itself.
    return answer !== null && answer.status < 500 ? answer : ((await kept(INDEX)) ?? asked);
  };

  const file = async (request: Request, path: string): Promise<Response> =>
    (await kept(path)) ?? fetch(request);

  scope.addEventListener('install', (event) => event.waitUntil(keep()));
  scope.addEventListener('activate', (event) => event.waitUntil(forgetFormer()));

  scope.addEventListener('fetch', (event) => {
    const { request } = event;
    const { origin, pathname, search } = new URL(request.url);
    if (request.method !== 'GET' || origin !== location.origin) return;
    if (request.mode === 'navigate' && ADDRESS.test(pathname)) event.respondWith(page(request));
    else if (search === '' && FILES.has(pathname)) event.respondWith(file(request, pathname));
  });

  // A page says of which build it is: its own worker may begin at once; another one waits, and the page is told that it is old.
  scope.addEventListener('message', (event) => {
    if (event.data?.build === BUILD) event.waitUntil(scope.skipWaiting());
    else event.source?.postMessage({ newer: true });
  });
})();
