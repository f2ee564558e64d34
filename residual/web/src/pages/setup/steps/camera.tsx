import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused, send } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import { Note } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { SourceForm } from './source-form.tsx';

const LOOK_MS = 2000;

export function CameraStep({ reload }: StepProps): JSX.Element {
  const { data } = useAsk('video.cameras.get', {}, LOOK_MS * 2);
  const options = [
    { value: 'auto', label: t.setup.camera.auto },
    ...(data?.cameras ?? []).map(({ source, device_path: path, label, width, height }) => ({
      value: source,
      label: t.setup.camera.found(
        label ?? path,
        width === null || height === null ? '' : `${width}×${height}`,
      ),
    })),
    { value: 'test', label: t.setup.camera.test },
    { value: 'none', label: t.setup.camera.none },
  ];
  return (
    <>
      <Picture />
      {data?.problem === null || data === null ? null : <Note tone="warn">{data.problem}</Note>}
      <SourceForm
        section="video"
        name="source"
        label={t.setup.camera.source}
        options={options}
        onSaved={reload}
      />
    </>
  );
}

/** One picture after the other, each when the last has come: slow networks get fewer, not a queue. */
function Picture(): JSX.Element {
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
        const blob = await (await send('video.snapshot.get', { signal: stopped.signal })).blob();
        if (!stopped.signal.aborted) show(URL.createObjectURL(blob), null);
      } catch (error) {
        if (stopped.signal.aborted) return;
        if (!(error instanceof Refused)) throw error;
        show(null, error.message);
      }
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      stopped.abort();
      clearTimeout(timer);
      if (last !== null) URL.revokeObjectURL(last);
    };
  }, []);
  return shown.url === null ? (
    <p class={css['no-picture']}>{shown.why ?? t.app.loading}</p>
  ) : (
    <img class={css['picture']} src={shown.url} alt={t.setup.camera.picture} />
  );
}
