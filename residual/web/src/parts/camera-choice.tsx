import type { JSX } from 'preact';
import { call } from '../api/client.ts';
import { may } from '../api/node.ts';
import { t } from '../strings.ts';
import { say } from './toast.tsx';
import { useAct, useAsk } from './use-ask.ts';

/**
 * Which camera is shown; nothing where there is only one.
 * @param shown its id, as the newest status has it
 * @param onShown called when another one is shown
 */
export function CameraChoice({
  shown,
  onShown,
}: {
  readonly shown: string | null;
  readonly onShown: () => unknown;
}): JSX.Element | null {
  const { data } = useAsk('video.cameras.get');
  const { busy, error, run } = useAct();
  const cameras = data?.configured.map(({ id, name }) => ({
    id,
    name: id === 'main' ? t.camera.main : name,
  }));
  if (cameras === undefined || cameras.length < 2) return null;
  const show = (id: string): void => {
    void run(async () => {
      await call('video.camera.put', { body: { camera_id: id } });
      say(t.camera.shown({ name: cameras.find((camera) => camera.id === id)?.name ?? id }), 'good');
      await onShown();
    });
  };
  return (
    <>
      <label class="camera-choice">
        <span class="visually-hidden">{t.camera.label}</span>
        <select
          value={shown ?? ''}
          disabled={busy || !may('video.camera.put')}
          aria-busy={busy}
          onChange={({ currentTarget: { value } }) => show(value)}
        >
          {cameras.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {error === null ? null : (
        <p class="note bad" role="alert">
          {error.message}
        </p>
      )}
    </>
  );
}
