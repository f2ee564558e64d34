import { effect, signal } from '@preact/signals';
import { memberOf, recordOf } from '../../../../shared/member.ts';
import { mayReadAny, mayReadPart } from '../../../../shared/plugins/telemetry-part.ts';
import { call, Refused, send } from '../api/client.ts';
import { newest } from '../api/telemetry.ts';
import { shownTheme } from '../parts/theme.ts';
import { say } from '../parts/toast.tsx';
import { t } from '../strings.ts';
import { METHODS } from './frame-requests.ts';
import { askedIn, type Meaning, meaningOf, OlderError, type OlderRequest } from './older-pages.ts';
import { kindOf, valuesOf } from './older-telemetry.ts';

const MAX_CODE_CHARS = 8 * 1024 * 1024;
const MAX_STYLE_CHARS = 256 * 1024;
const MAX_OPEN = 8;
const MAX_TOPICS = 32;
/** Between two notifications of one page; as many may come at once. */
const NOTIFY = { everyMs: 5000, atOnce: 3 } as const;

/** Which extension it is, and where in the page. */
export interface About {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** As in the grant, `fc-tab`; `page` for its own place below Extensions. */
  readonly slot: string;
}

export interface Tells {
  readonly height: (px: number) => void;
  readonly problem: (text: string) => void;
  /** Asks the person; one question at a time. */
  readonly ask: (text: string) => Promise<boolean>;
}

/** The page's end of the port. What comes out of it was written by the extension. */
export class Host {
  readonly #port: MessagePort;
  readonly #about: About;
  readonly #tells: Tells;
  readonly #grants = signal<readonly string[]>([]);
  readonly #listens = signal(false);
  /** Topics that an older page hears, each with what it was told last. */
  readonly #topics = signal<ReadonlyMap<string, { last: unknown }>>(new Map());
  readonly #ends: (() => void)[] = [];
  #entrypoint = '';
  #settings: Readonly<Record<string, unknown>> | null = null;
  /** It has sent a message in the form of the other host. */
  #isOlder = false;
  #open = 0;
  #asking = false;
  readonly #notified: number[] = [];

  constructor(inside: Window, about: About, grants: readonly string[], tells: Tells) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#about = about;
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
      theme: frameTheme(),
      locale: navigator.language,
    };
    this.#entrypoint = path;
    this.#send({ t: 'start', code, about });
    this.#ends.push(
      effect(() => {
        const body = newest.value;
        const grants = this.#grants.value;
        if (body === null) return;
        if (this.#listens.value && grants.includes('telemetry.subscribe')) this.#tell('telemetry', body);
        for (const [topic, state] of this.#topics.value)
          if (mayHear(topic, grants))
            for (const value of valuesOf(topic, id, body, state))
              this.#tellOlder(`telemetry.${topic}`, value);
      }),
      effect(() => {
        this.#tell('theme', frameTheme());
        if (this.#isOlder) this.#tellOlder('theme.changed', themeColours());
      }),
    );
  }

  granted(grants: readonly string[]): void {
    this.#grants.value = grants;
    this.#tell('grants', grants);
  }

  /** @param values with its defaults; null: it has none */
  configured(values: Readonly<Record<string, unknown>> | null): void {
    const isNew = JSON.stringify(values) !== JSON.stringify(this.#settings);
    this.#settings = values;
    if (isNew && this.#isOlder) this.#tellSettings();
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#port.close();
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has two ends, and no origin
    this.#port.postMessage(message);
  }

  #tell(m: string, a: unknown): void {
    this.#send({ t: 'event', m, a });
  }

  #take(message: unknown): void {
    const { t: kind, m, a, id } = recordOf(message);
    if (kind === 'event' && m === 'height' && typeof a === 'number' && Number.isFinite(a))
      this.#tells.height(a);
    else if (kind === 'event' && m === 'error') this.#tells.problem(String(a).slice(0, 500));
    else if (kind === 'request' && typeof m === 'string' && typeof id === 'number')
      void this.#answer(m, recordOf(a)).then(
        (result) => this.#send({ t: 'response', id, a: result }),
        (error: unknown) => this.#send({ t: 'response', id, err: messageOf(error) }),
      );
    else if (kind === 'envelope') {
      const asked = askedIn(a);
      if (asked !== null) void this.#answerOlder(asked);
    }
  }

  /** @throws Error with a sentence for the extension */
  async #answer(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown> {
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (method === undefined) throw new Error(`unknown method ${name}`);
    const { needs } = method;
    return this.#bounded(async () => {
      const { id } = this.#about;
      if (needs !== null) await this.#mustHold(needs, (grants) => grants.includes(needs));
      if (method.confirm !== undefined && !(await this.#confirmed(method.confirm(args))))
        throw new Error('the operator did not allow it');
      if (name === 'telemetry.subscribe') this.#listens.value = true;
      return method.run(id, args, (text, tone) => this.#notify(text, tone));
    });
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#open >= MAX_OPEN) throw new Error('too many requests at a time');
    this.#open++;
    try {
      return await work();
    } finally {
      this.#open--;
    }
  }

  /** Asked of the node at each call: a grant may be gone from one moment to the next. */
  async #mustHold(name: string, holds: (grants: readonly string[]) => boolean): Promise<void> {
    const { granted_capabilities: grants } = await call('plugins.id.get', { params: { id: this.#about.id } });
    if (!holds(grants)) throw new Error(`${DENIED} ${name}`);
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

  async #answerOlder(asked: OlderRequest): Promise<void> {
    const { id, method, capability } = asked;
    if (!this.#isOlder) {
      this.#isOlder = true;
      this.#tell('style', await styleOf(this.#about.id, this.#entrypoint));
      this.#tellOlder('theme.changed', themeColours());
    }
    const answer = { id, type: 'response', method, capability, version: 1 };
    try {
      const meaning = meaningOf(asked);
      const args = await this.#mean(meaning);
      this.#send({ t: 'envelope', a: { ...answer, args: args ?? null } });
      // It begins to listen for these once it is answered.
      if (meaning.kind === 'subscribe') this.#tellSettings();
    } catch (error) {
      const message = messageOf(error);
      const code =
        error instanceof OlderError
          ? error.code
          : message.startsWith(DENIED)
            ? 'permission_denied'
            : 'handler_error';
      this.#send({ t: 'envelope', a: { ...answer, args: null, error: { code, message } } });
    }
  }

  async #mean(meaning: Meaning): Promise<unknown> {
    switch (meaning.kind) {
      case 'answer':
        return meaning.value;
      case 'ours': {
        const result = await this.#answer(meaning.m, meaning.a);
        // It takes any answer for a yes.
        const status = memberOf(result, 'status');
        if (meaning.accepted === true && status !== 'accepted')
          throw new Error(`the vehicle answered ${String(status)}`);
        return { ok: true, result };
      }
      case 'subscribe':
        return this.#bounded(async () => {
          const { topic } = meaning;
          await this.#mustHold(`telemetry.subscribe.${topic}`, (grants) => mayHear(topic, grants));
          if (this.#topics.value.size >= MAX_TOPICS) throw new Error('too many topics');
          this.#topics.value = new Map(this.#topics.value).set(topic, { last: null });
          return { ok: true, linked: newest.value !== null };
        });
      case 'unsubscribe': {
        const topics = new Map(this.#topics.value);
        const ok = topics.delete(meaning.topic);
        this.#topics.value = topics;
        return { ok };
      }
      case 'set':
        return this.#bounded(async () => {
          await this.#mustHold('command.send', (grants) => grants.includes('command.send'));
          const { key, value } = meaning;
          const body = { key, value };
          await call('plugins.id.config.put', { params: { id: this.#about.id }, body });
          return { ok: true, result: { set: true, key } };
        });
    }
  }

  /** @throws Error where it says too much */
  #notify(text: string, tone: 'info' | 'warn' | 'bad'): void {
    const now = performance.now();
    while (now - (this.#notified[0] ?? now) > NOTIFY.everyMs * NOTIFY.atOnce) this.#notified.shift();
    if (this.#notified.length >= NOTIFY.atOnce) throw new Error('too many notifications');
    this.#notified.push(now);
    say(t.extensions.frame.says({ name: this.#about.name, text }), tone);
  }

  #tellSettings(): void {
    if (this.#settings !== null) this.#tellOlder('config.changed', this.#settings);
  }

  #tellOlder(method: string, args: unknown): void {
    const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    this.#send({ t: 'envelope', a: { id, type: 'event', method, capability: '', args, version: 1 } });
  }
}

const DENIED = 'capability_denied:';

/** A value of its own needs any grant of telemetry. */
function mayHear(topic: string, grants: readonly string[]): boolean {
  return kindOf(topic) === 'own' ? mayReadAny(grants) : mayReadPart(topic, grants);
}

/** Older packers put a style sheet beside the script. */
async function styleOf(id: string, script: string): Promise<string> {
  const path = script.replace(/[^/]*$/, 'plugin.css');
  const answer = await send('plugins.id.gcs.path.get', { params: { id, path } }).catch((error: unknown) => {
    if (error instanceof Refused) return null; // there is none
    throw error;
  });
  return answer === null ? '' : (await answer.text()).slice(0, MAX_STYLE_CHARS);
}

/** Frames know two: in sunlight it is the light one. */
function frameTheme(): 'light' | 'dark' {
  return shownTheme.value === 'dark' ? 'dark' : 'light';
}

/** By the names of the other host: this page's colours, as they are now. */
function themeColours(): Readonly<Record<string, string>> {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    Object.entries(COLOURS).map(([name, own]) => [name, style.getPropertyValue(own).trim()]),
  );
}

const COLOURS = {
  '--bg-primary': '--back',
  '--bg-secondary': '--card',
  '--text-primary': '--text',
  '--text-secondary': '--dim',
  '--accent-primary': '--accent',
  '--border-default': '--line',
  '--status-success': '--good',
  '--status-warning': '--warn',
  '--status-error': '--bad',
} as const;

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
