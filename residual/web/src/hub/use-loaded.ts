import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * A part of the page that is loaded when it is first needed: the first view waits for none of it.
 * @param load the same function each time; null: it is not needed yet
 * @returns null: not there yet
 */
export function useLoaded<Props>(
  load: (() => Promise<ComponentType<Props>>) | null,
): ComponentType<Props> | 'failed' | null {
  const [part, setPart] = useState<{ readonly is: ComponentType<Props> | 'failed' } | null>(null);
  useEffect(() => {
    load?.().then(
      (is) => setPart({ is }),
      () => setPart({ is: 'failed' }),
    );
  }, [load]);
  return part?.is ?? null;
}
