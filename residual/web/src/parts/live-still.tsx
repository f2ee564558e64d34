import { VideoOff } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused, send } from '../api/client.ts';
import { may } from '../api/node.ts';
import { t } from '../strings.ts';
import { Icon } from './icon.tsx';

const LOOK_MS = 2000;
/** Pixels. */
const SMALL = 320;

/**
 * One picture of the camera after the other, each when the last has come: slow networks get fewer, not a queue.
 * @param camera another one than that which is shown: a single small picture, as it runs for it alone
 */
export function LiveStill({
  label,
  camera,
}: {
  readonly label: string;
  readonly camera?: string;
}): JSX.Element {
  const [shown, setShown] = useState<{ readonly url: string | null; readonly why: string | null }>({
    url: null,
    why: null,
  });
  useEffect(() => {
    if (!may('video.snapshot.get')) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: string | null = null;
    const show = (url: string | null, why: string | null): void => {
      if (last !== null) URL.revokeObjectURL(last);
      last = url;
      setShown({ url, why });
    };
    const look = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const query = camera === undefined ? {} : { camera, width: SMALL };
          const blob = await (await send('video.snapshot.get', { query, signal: stopped.signal })).blob();
          if (!stopped.signal.aborted) show(URL.createObjectURL(blob), null);
        }
      } catch (error) {
        if (stopped.signal.aborted) return;
        if (!(error instanceof Refused)) throw error;
        show(null, error.message);
      }
      if (!stopped.signal.aborted && camera === undefined) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      stopped.abort();
      clearTimeout(timer);
      if (last !== null) URL.revokeObjectURL(last);
    };
  }, [camera]);
  return shown.url === null ? (
    <div class="still">
      <Icon of={VideoOff} />
      <p>{shown.why ?? t.app.loading}</p>
    </div>
  ) : (
    <img class="still" src={shown.url} alt={label} />
  );
}
