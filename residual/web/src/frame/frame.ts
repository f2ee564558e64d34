/**
 * Runs the page of an extension in its sandboxed frame (docs/extensions.md, "The page of an extension"). A classic script without
 * imports: the frame has an origin of its own, to which the node hands out no modules. What is here protects nobody; the sandbox,
 * the frame's policy and the checks of the page around it do.
 */
((): void => {
  interface Start {
    readonly t: 'start';
    readonly code: string;
    readonly about: Readonly<Record<string, unknown>>;
  }
  interface News {
    readonly t: 'event';
    readonly m: string;
    readonly a: unknown;
  }
  interface Response {
    readonly t: 'response';
    readonly id: number;
    readonly a?: unknown;
    readonly err?: string;
  }
  /** What pages that were written for ADOS Mission Control send to the window around them, and get from it. */
  interface Envelope {
    readonly t: 'envelope';
    readonly a: unknown;
  }
  type Listener = (value: unknown) => void;

  const STYLE = `
    :root { color-scheme: light; font: 16px/1.45 system-ui, sans-serif; background: #fff; color: #10161d; }
    :root[data-theme=dark] { color-scheme: dark; background: #151c24; color: #eef3f8; }
    :root[data-slot=video-overlay] { color-scheme: light; background: transparent; color: #fff; }
    body { margin: 0.5rem; }
    button, input, select { min-height: 44px; font: inherit; }`;

  /** Whether bundlers wrote it as a module: nothing else ends with what it exports. */
  const isModule = (code: string): boolean =>
    /export\s*\{[^{}]*\};?\s*(?:\/\/[^\n]*(?:\n\s*|$))*$/.test(code.slice(-4096));

  const styleBy = (text: string): void => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  };

  const listeners = new Map<string, Set<Listener>>();
  const waiting = new Map<number, { done: Listener; failed: (error: Error) => void }>();
  let last = 0;

  const emit = (name: string, value: unknown): void => {
    for (const listener of listeners.get(name) ?? []) listener(value);
  };

  const begin = (port: MessagePort): void => {
    const tell = (m: string, a: unknown): void => port.postMessage({ t: 'event', m, a });
    const svc = {
      /** @returns a function that ends it */
      on(name: string, listener: Listener): () => void {
        const all = listeners.get(name) ?? new Set<Listener>();
        listeners.set(name, all.add(listener));
        return () => all.delete(listener);
      },
      async request({ capability, ...args }: { capability: string }): Promise<unknown> {
        const id = ++last;
        return new Promise((done, failed) => {
          waiting.set(id, { done, failed });
          port.postMessage({ t: 'request', id, m: capability, a: args });
        });
      },
    };
    // Those pages know no port. What they take for the window around them ends here.
    Object.defineProperty(globalThis, 'parent', {
      value: Object.freeze({ postMessage: (a: unknown): void => port.postMessage({ t: 'envelope', a }) }),
    });
    const take = (message: Start | News | Response | Envelope): void => {
      if (message.t === 'response') {
        const asked = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.err === undefined) asked?.done(message.a);
        else asked?.failed(new Error(message.err));
      } else if (message.t === 'envelope') {
        dispatchEvent(new MessageEvent('message', { data: message.a }));
      } else if (message.t === 'event') {
        if (message.m === 'style') styleBy(String(message.a));
        if (message.m === 'theme') document.documentElement.dataset['theme'] = String(message.a);
        Object.assign(svc, message.m === 'theme' || message.m === 'grants' ? { [message.m]: message.a } : {});
        emit(message.m, message.a);
      } else {
        Object.assign(svc, message.about);
        document.documentElement.dataset['theme'] = String(message.about['theme']);
        document.documentElement.lang = String(message.about['locale']);
        document.documentElement.dataset['slot'] = String(message.about['slot']);
        Object.defineProperty(globalThis, 'svc', { value: svc });
        const script = document.createElement('script');
        if (isModule(message.code)) script.type = 'module';
        script.src = URL.createObjectURL(new Blob([message.code], { type: 'text/javascript' }));
        script.addEventListener('error', () =>
          tell('error', 'The page of the extension could not be loaded.'),
        );
        document.body.append(script);
      }
    };
    port.addEventListener('message', ({ data }) => take(data));
    addEventListener('error', ({ message }) => tell('error', message));
    addEventListener('unhandledrejection', ({ reason }) => tell('error', String(reason)));
    new ResizeObserver(() => tell('height', document.documentElement.offsetHeight)).observe(
      document.documentElement,
    );
    port.start();
    tell('ready', null);
  };

  styleBy(STYLE);
  // The policy of the frame says nothing of WebRTC, by which data could leave it.
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport'])
    Reflect.deleteProperty(globalThis, name);

  const first = ({ source, ports: [port] }: MessageEvent): void => {
    if (source !== parent || port === undefined) return;
    removeEventListener('message', first);
    begin(port);
  };
  addEventListener('message', first);
})();
