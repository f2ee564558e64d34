import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused, send } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './fly.module.css';

/** The cameras that are not shown, as small pictures beside the one that is. */

const STORED = 'svc.other-cameras';
/** From one round of questions to the next. */
const EVERY_MS = 1000;
/** One that gives nothing is not tried in each round: a try takes seconds, in which the others stand still. */
const AGAIN_MS = 10_000;
const WIDTH = 320;

interface Look {
  /** A blob, valid until the next one. */
  readonly url: string | null;
  /** Why there is no picture. */
  readonly problem: string | null;
}

// Shut at first: their pictures cost what the path to the node may not have.
const open = signal(localStorage.getItem(STORED) === 'open');

/** Nothing where there is no other camera. @param shown its id. @param onShown called with the id when another one is shown */
export function OtherCameras({
  shown,
  onShown,
}: {
  readonly shown: string | null;
  readonly onShown: (id: string) => void;
}): JSX.Element | null {
  const { data } = useAsk('video.cameras.get');
  const { busy, error, run } = useAct();
  const others = (data?.configured ?? []).filter(({ id }) => shown !== null && id !== shown);
  const looks = useLooks(open.value ? others.map(({ id }) => id) : []);
  if (others.length === 0 || !may('video.snapshot.get')) return null;
  const show = (id: string, name: string): void => {
    void run(async () => {
      await call('video.camera.put', { body: { camera_id: id } });
      say(t.camera.shown({ name }), 'good');
      onShown(id);
    });
  };
  return (
    <details
      class={css['cameras']}
      open={open.value}
      onToggle={({ currentTarget }) => {
        open.value = currentTarget.open;
        localStorage.setItem(STORED, currentTarget.open ? 'open' : 'shut');
      }}
    >
      <summary>{t.fly.cameras.title}</summary>
      <ul>
        {others.map((camera) => {
          const { url, problem } = looks[camera.id] ?? { url: null, problem: null };
          const name = camera.id === 'main' ? t.camera.main : camera.name;
          return (
            <li key={camera.id}>
              <button
                type="button"
                disabled={busy || !may('video.camera.put')}
                aria-busy={busy}
                aria-label={t.fly.cameras.show({ name })}
                onClick={() => show(camera.id, name)}
              >
                {url === null ? <span>{problem ?? t.fly.cameras.waiting}</span> : <img src={url} alt="" />}
                <small>{name}</small>
              </button>
            </li>
          );
        })}
      </ul>
      {error === null ? null : (
        <p class="note bad" role="alert">
          {error.message}
        </p>
      )}
    </details>
  );
}

/** The newest picture of each, asked for one after the other while the page is looked at. */
function useLooks(ids: readonly string[]): Readonly<Record<string, Look>> {
  const [looks, setLooks] = useState<Readonly<Record<string, Look>>>({});
  const same = JSON.stringify(ids);
  useEffect(() => {
    if (ids.length === 0) return;
    const stopper = new AbortController();
    void lookAround(ids, stopper.signal, (id, look) =>
      setLooks((before) => {
        const old = before[id]?.url ?? null;
        if (old !== null) URL.revokeObjectURL(old);
        return { ...before, [id]: look };
      }),
    );
    return () => {
      stopper.abort();
      setLooks((before) => {
        for (const { url } of Object.values(before)) if (url !== null) URL.revokeObjectURL(url);
        return {};
      });
    };
  }, [same]);
  return looks;
}

async function lookAround(
  ids: readonly string[],
  over: AbortSignal,
  onLook: (id: string, look: Look) => void,
): Promise<void> {
  const notBefore = new Map<string, number>();
  while (!over.aborted) {
    const began = performance.now();
    for (const id of ids) {
      if (document.hidden || performance.now() < (notBefore.get(id) ?? 0)) continue;
      const look = await lookAt(id, over);
      if (over.aborted) return;
      if (look === null) continue;
      onLook(id, look);
      if (look.problem !== null) notBefore.set(id, performance.now() + AGAIN_MS);
    }
    const rest = Math.max(0, EVERY_MS - (performance.now() - began));
    await new Promise((resolve) => setTimeout(resolve, rest));
  }
}

/** @returns null if another one is being started, or the signal ended it: what was seen last stays */
async function lookAt(id: string, over: AbortSignal): Promise<Look | null> {
  try {
    const answer = await send('video.snapshot.get', { query: { camera: id, width: WIDTH }, signal: over });
    const picture = await answer.blob();
    return over.aborted ? null : { url: URL.createObjectURL(picture), problem: null };
  } catch (error) {
    if (over.aborted) return null;
    if (!(error instanceof Refused)) return { url: null, problem: t.fly.video.broke };
    return error.code === 'E_BUSY' ? null : { url: null, problem: error.message };
  }
}
