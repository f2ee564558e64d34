import type { JSX } from 'preact';
import { useCallback, useRef } from 'preact/hooks';
import type { Refused } from '../api/client.ts';
import { t } from '../strings.ts';
import { ErrorNote, HoldButton } from './parts.tsx';
import { useAct } from './use-ask.ts';

/** Actions that the armed guard may refuse: its refusal is shown, and its override is asked for by a button that must be held. */
interface Guarded {
  readonly busy: boolean;
  readonly error: Refused | null;
  /** @param work gets whether the armed guard is overridden @returns whether it succeeded */
  readonly run: (work: (force: boolean) => Promise<unknown>) => Promise<boolean>;
  /** The last one again, over the guard. */
  readonly again: () => void;
}

export function useGuarded(): Guarded {
  const { busy, error, run } = useAct();
  const last = useRef<(force: boolean) => Promise<unknown>>(async () => Promise.resolve());
  return {
    busy,
    error,
    run: useCallback(
      async (work) => {
        last.current = work;
        return run(async () => work(false));
      },
      [run],
    ),
    again: useCallback(() => void run(async () => last.current(true)), [run]),
  };
}

/** A body with the override of the armed guard, where it was asked for. */
export function forced<B extends object>(force: boolean, body: B): B {
  return force ? { ...body, force: true } : body;
}

export function GuardNote({ act }: { act: Guarded }): JSX.Element | null {
  if (act.error === null) return null;
  return (
    <>
      <ErrorNote error={act.error} />
      {act.error.code === 'E_ARMED' ? (
        <HoldButton kind="danger" busy={act.busy} onConfirm={act.again} holdMs={2000}>
          {t.app.force}
        </HoldButton>
      ) : null}
    </>
  );
}
