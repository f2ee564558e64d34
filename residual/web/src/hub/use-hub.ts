import { useCallback, useEffect, useState } from 'preact/hooks';
import { Refused } from '../api/client.ts';
import type { AskState } from '../parts/use-ask.ts';
import { ask } from './client.ts';

/**
 * What the hub answers at a path, asked when the part is shown and again every `everyMs`, unless the page is hidden.
 * @param everyMs null: once
 */
export function useHub<T>(path: string, everyMs: number | null = null): AskState<T> {
  const [state, setState] = useState<{ data: T | null; error: Refused | null }>({ data: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden || everyMs === null) {
        try {
          const data = await ask<T>(path, { signal: stopped.signal });
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
  }, [path, everyMs, round]);
  return { ...state, reload: useCallback(() => setRound((n) => n + 1), []) };
}
