import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { RowId } from '../../../../shared/routes/table.ts';
import { type Ask, call, Refused } from '../api/client.ts';
import { may } from '../api/node.ts';
import type { Answer } from '../api/rows.ts';

/** What a row answers, asked when the part is shown and again every `everyMs`. */
export interface AskState<T> {
  readonly data: T | null;
  /** Of the newest try; the older answer stays in `data`. */
  readonly error: Refused | null;
  readonly reload: () => void;
}

/**
 * Not asked at all where this caller may not (api/node.ts).
 * @param everyMs null: once; a hidden page does not ask
 */
export function useAsk<Id extends RowId>(
  id: Id,
  ask: Pick<Ask, 'params' | 'query' | 'here'> = {},
  everyMs: number | null = null,
): AskState<NoInfer<Answer<Id>>> {
  const [state, setState] = useState<{ data: Answer<Id> | null; error: Refused | null }>({
    data: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const same = JSON.stringify([ask.params, ask.query]);
  useEffect(() => {
    if (!may(id)) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden || everyMs === null) {
        try {
          const data = await call(id, { ...latest.current, signal: stopped.signal });
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
  }, [id, same, everyMs, round]);
  return { ...state, reload: useCallback(() => setRound((n) => n + 1), []) };
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
