import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { call, Refused } from '../api/client.ts';
import { may } from '../api/node.ts';
import { t } from '../strings.ts';
import css from './form/schema-form.module.css';
import { Button, ErrorNote, Note } from './parts.tsx';
import { say } from './toast.tsx';
import { useAct } from './use-ask.ts';

/** What must restart before a changed config counts; kept while the page is open. */

const LOOK_MS = 500;
const PATIENCE_MS = 90_000;

const pending = signal<readonly string[]>([]);

export function mustRestart(names: readonly string[]): void {
  pending.value = [...new Set([...pending.value, ...names])];
}

/**
 * Restarts a process of the node and waits until it runs again; also the one that answers us.
 * @throws Refused: refused, or it did not come back in 90 s
 */
export async function restart(name: string): Promise<void> {
  // The supervisor may restart in place, with its number kept; the process that answers us is a new one in any case.
  const watched = name === 'svc-supervisor' ? 'svc-control' : name;
  const before = (await processes()).get(watched);
  const { status } = await call('services.name.restart.post', { params: { name }, body: {} });
  if (status === 'accepted') await back(watched, before ?? null);
  pending.value = name === 'svc-supervisor' ? [] : pending.value.filter((each) => each !== name);
}

/** All that must restart, one after the other. @throws Refused as `restart`; what is left still must */
export async function restartAll(): Promise<void> {
  for (const name of pending.peek()) await restart(name);
}

/** Waits until a process runs under another number than before. @throws Refused */
async function back(name: string, before: number | null): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    try {
      const now = (await processes()).get(name);
      if (now !== undefined && now !== before) return;
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 0 && error.status < 500)) throw error;
    }
    if (performance.now() > until) throw new Refused(0, 'E_AWAY', t.config.notBack({ name }));
  }
}

/** The process number of each that runs. */
async function processes(): Promise<ReadonlyMap<string, number | null>> {
  const { services } = await call('services.get');
  return new Map(services.flatMap(({ name, state, pid }) => (state === 'running' ? [[name, pid]] : [])));
}

/** What must restart, with a button for each. Nothing while nothing must. */
export function Restarts(): JSX.Element | null {
  const { busy, error, run } = useAct();
  if (pending.value.length === 0 && error === null) return null;
  return (
    <div class={css['restarts']}>
      <Note tone="warn">
        <p>{t.config.restart}</p>
        <div class="row">
          {pending.value.map((name) => (
            <Button
              key={name}
              row="services.name.restart.post"
              busy={busy}
              onClick={() =>
                void run(async () => {
                  await restart(name);
                  say(t.config.restarted({ name }), 'good');
                })
              }
            >
              {t.config.restartOf({ name })}
            </Button>
          ))}
        </div>
        {may('services.name.restart.post') ? null : <p>{t.denied.scope}</p>}
        <ErrorNote error={error} />
      </Note>
    </div>
  );
}
