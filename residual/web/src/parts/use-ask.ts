import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { RowId } from '../../../../shared/routes/table.ts';
import { type Ask, call, Refused } from '../api/client.ts';
import { may } from '../api/node.ts';
import type { Answer } from '../api/rows.ts';

/** What somebody answers, asked when the part is shown and again every `everyMs`. `Asked` (asked.tsx) shows it in each of its states. */
export interface AskState<T> {
  readonly data: T | null;
  /** Of the newest try; the older answer stays in `data`. */
  readonly error: Refused | null;
  /** Neither an answer nor a refusal is there yet: nothing may be said of what is asked. False where it is not asked at all. */
  readonly isAwaited: boolean;
  readonly reload: () => void;
}

/**
 * @param key asked anew when it changes
 * @param ask null: not asked at all
 * @param everyMs null: once; a hidden page does not ask
 */
export function usePolled<T>(
  key: string,
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  everyMs: number | null,
): AskState<T> {
  const [state, setState] = useState<{ data: T | null; error: Refused | null }>({ data: null, error: null });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const isAsked = ask !== null;
  useEffect(() => {
    if (!isAsked) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden || everyMs === null) {
        try {
          const data = (await latest.current?.(stopped.signal)) ?? null;
          if (!stopped.signal.aborted) setState({ data, error: null });
        } catch (error) {
          if (stopped.signal.aborted) return;
          if (!(error instanceof Refused)) throw error;
          setState(({ data }) => ({ data, error }));
        }
      }
      if (everyMs !== null && !stopped.signal.aborted) timer = setTimeout(() => void look(), everyMs);
    };
    void look();
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }, [key, isAsked, everyMs, round]);
  const reload = useCallback(() => {
    setState(({ data }) => ({ data, error: null }));
    setRound((n) => n + 1);
  }, []);
  return { ...state, isAwaited: isAsked && state.data === null && state.error === null, reload };
}

/** What a row answers. Not asked at all where this caller may not (api/node.ts). */
export function useAsk<Id extends RowId>(
  id: Id,
  ask: Pick<Ask, 'params' | 'query' | 'here'> = {},
  everyMs: number | null = null,
): AskState<NoInfer<Answer<Id>>> {
  return usePolled(
    JSON.stringify([id, ask.params, ask.query]),
    may(id) ? async (signal) => call(id, { ...ask, signal }) : null,
    everyMs,
  );
}

/** One action at a time: whether it runs, and why the last one failed. */
export function useAct(): {
  readonly busy: boolean;
  readonly error: Refused | null;
  /** Runs it unless one runs. @returns whether it succeeded */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly clear: () => void;
} {
  const [state, setState] = useState<{ busy: boolean; error: Refused | null }>({ busy: false, error: null });
  const busy = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: true, error: null });
    try {
      await work();
      setState({ busy: false, error: null });
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setState({ busy: false, error });
      return false;
    } finally {
      busy.current = false;
    }
  }, []);
  return { ...state, run, clear: useCallback(() => setState({ busy: false, error: null }), []) };
}
