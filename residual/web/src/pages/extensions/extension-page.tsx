import { effect, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, Refused, send } from '../../api/client.ts';
import { newest } from '../../api/telemetry.ts';
import { theme } from '../../app/theme.ts';
import { Button, Dialog, HoldButton, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { METHODS } from './frame-requests.ts';
import type { Detailed } from './status.ts';

const MAX_CODE_CHARS = 8 * 1024 * 1024;
const MAX_OPEN = 8;
const MIN_HEIGHT_PX = 120;
const MAX_HEIGHT_PX = 4000;

interface Question {
  readonly text: string;
  readonly answer: (yes: boolean) => void;
}

/** The extension's own page, in a frame with an origin of its own that reaches nothing but this page's port. */
export function ExtensionPage({ data }: { data: Detailed }): JSX.Element {
  const { install, manifest, granted_capabilities: grants } = data;
  const on = install.status === 'running' || install.status === 'enabled';
  if (!on) return <Note>{t.extensions.frame.off}</Note>;
  if (!grants.some((grant) => grant.startsWith('ui.slot.')))
    return <Note>{t.extensions.frame.notGranted}</Note>;
  return (
    <Frame
      key={`${install.plugin_id} ${install.version} ${install.installed_at}`}
      id={install.plugin_id}
      name={manifest?.name ?? install.plugin_id}
      entrypoint={manifest?.gcs?.entrypoint ?? ''}
      version={install.version}
      grants={grants}
    />
  );
}

function Frame(props: {
  id: string;
  name: string;
  entrypoint: string;
  version: string;
  grants: readonly string[];
}): JSX.Element {
  const { id, name, entrypoint } = props;
  const frame = useRef<HTMLIFrameElement>(null);
  const host = useRef<Host | null>(null);
  const [height, setHeight] = useState(MIN_HEIGHT_PX);
  const [problem, setProblem] = useState<string | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => () => host.current?.stop(), []);
  useEffect(() => host.current?.granted(props.grants), [props.grants.join()]);
  const begin = (): void => {
    const inside = frame.current?.contentWindow;
    // A frame that went elsewhere by itself gets nothing more.
    if (inside === null || inside === undefined || host.current !== null) {
      host.current?.stop();
      return;
    }
    host.current = new Host(inside, props, {
      height: (px) => setHeight(Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, px))),
      problem: setProblem,
      ask: async (text) =>
        new Promise((answer) =>
          setQuestion({
            text,
            answer: (yes) => {
              setQuestion(null);
              answer(yes);
            },
          }),
        ),
    });
    host.current.start(entrypoint).catch((error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <>
      {problem === null ? null : <Note tone="bad">{t.extensions.frame.problem(problem)}</Note>}
      <iframe
        ref={frame}
        class="extension-frame"
        title={t.extensions.frame.title(name)}
        sandbox="allow-scripts"
        src="/assets/frame.html"
        style={{ height: `${height}px` }}
        onLoad={begin}
      />
      <Dialog
        title={t.extensions.frame.asks(name)}
        open={question !== null}
        onClose={() => question?.answer(false)}
      >
        <p>{question?.text}</p>
        <div class="row">
          <HoldButton kind="danger" onConfirm={() => question?.answer(true)}>
            {t.extensions.frame.allow}
          </HoldButton>
          <Button onClick={() => question?.answer(false)}>{t.app.cancel}</Button>
        </div>
      </Dialog>
      <p class="hint">{t.extensions.frame.hint(id)}</p>
    </>
  );
}

interface Tells {
  readonly height: (px: number) => void;
  readonly problem: (text: string) => void;
  /** Asks the person; one question at a time. */
  readonly ask: (text: string) => Promise<boolean>;
}

/** The page's end of the port. What comes out of it was written by the extension. */
class Host {
  readonly #port: MessagePort;
  readonly #about: { id: string; name: string; version: string };
  readonly #tells: Tells;
  readonly #grants = signal<readonly string[]>([]);
  readonly #listens = signal(false);
  readonly #ends: (() => void)[] = [];
  #open = 0;
  #asking = false;

  constructor(
    inside: Window,
    { id, name, version, grants }: { id: string; name: string; version: string; grants: readonly string[] },
    tells: Tells,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#about = { id, name, version };
    this.#tells = tells;
    this.#grants.value = grants;
    port1.addEventListener('message', ({ data }: MessageEvent<unknown>) => this.#take(data));
    port1.start();
    // Its origin is opaque, so it cannot be named; nothing but the port is in this message.
    inside.postMessage(null, '*', [port2]);
  }

  /** @throws Refused: its code could not be read */
  async start(entrypoint: string): Promise<void> {
    const { id } = this.#about;
    const path = entrypoint.replace(/^gcs\//, '');
    const code = await (await send('plugins.id.gcs.path.get', { params: { id, path } })).text();
    if (code.length > MAX_CODE_CHARS) throw new Refused(0, 'E_TOO_LARGE', t.extensions.frame.tooLarge);
    const about = {
      ...this.#about,
      grants: this.#grants.value,
      theme: shownTheme(),
      locale: navigator.language,
    };
    this.#port.postMessage({ t: 'start', code, about });
    this.#ends.push(
      effect(() => {
        const body = newest.value;
        if (this.#listens.value && body !== null && this.#grants.value.includes('telemetry.subscribe'))
          this.#tell('telemetry', body);
      }),
      effect(() => {
        void theme.value;
        this.#tell('theme', shownTheme());
      }),
    );
  }

  granted(grants: readonly string[]): void {
    this.#grants.value = grants;
    this.#tell('grants', grants);
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#port.close();
  }

  #tell(m: string, a: unknown): void {
    this.#port.postMessage({ t: 'event', m, a });
  }

  #take(message: unknown): void {
    if (typeof message !== 'object' || message === null) return;
    const { t: kind, m, a, id } = message as Readonly<Record<string, unknown>>;
    if (kind === 'event' && m === 'height' && typeof a === 'number' && Number.isFinite(a))
      this.#tells.height(a);
    else if (kind === 'event' && m === 'error') this.#tells.problem(String(a).slice(0, 500));
    else if (kind === 'request' && typeof m === 'string' && typeof id === 'number')
      void this.#answer(m, typeof a === 'object' && a !== null ? (a as Record<string, unknown>) : {}).then(
        (result) => this.#port.postMessage({ t: 'response', id, a: result }),
        (error: unknown) => this.#port.postMessage({ t: 'response', id, err: messageOf(error) }),
      );
  }

  /** @throws Error with a sentence for the extension */
  async #answer(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (method === undefined) throw new Error(`unknown method ${name}`);
    if (this.#open >= MAX_OPEN) throw new Error('too many requests at a time');
    this.#open++;
    try {
      const { id } = this.#about;
      if (method.needs !== null) {
        // At each call: a grant may be gone from one moment to the next.
        const { granted_capabilities: grants } = await call('plugins.id.get', { params: { id } });
        if (!grants.includes(method.needs)) throw new Error(`capability_denied: ${method.needs}`);
      }
      if (method.confirm !== undefined && !(await this.#confirmed(method.confirm(args))))
        throw new Error('the operator did not allow it');
      if (name === 'telemetry.subscribe') this.#listens.value = true;
      return await method.run(id, args);
    } finally {
      this.#open--;
    }
  }

  async #confirmed(text: string): Promise<boolean> {
    if (this.#asking) return false;
    this.#asking = true;
    try {
      return await this.#tells.ask(text);
    } finally {
      this.#asking = false;
    }
  }
}

function shownTheme(): 'light' | 'dark' {
  if (theme.value !== 'auto') return theme.value;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
