import type { JSX } from 'preact';
import { LiveStill } from '../../../parts/live-still.tsx';
import { Note, Unfold } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import type { StepProps } from '../status.ts';
import { SourceForm } from './source-form.tsx';

const LOOK_MS = 2000;

export function CameraStep({ reload }: StepProps): JSX.Element {
  const { data } = useAsk('video.cameras.get', {}, LOOK_MS * 2);
  const options = [
    { value: 'auto', label: t.setup.camera.auto },
    ...(data?.cameras ?? []).map(({ source, device_path: path, label, width, height }) => ({
      value: source,
      label: t.setup.camera.found({
        name: label ?? path,
        size: width === null || height === null ? null : `${width}×${height}`,
      }),
    })),
    { value: 'test', label: t.setup.camera.test },
    { value: 'none', label: t.setup.camera.none },
  ];
  return (
    <>
      <LiveStill label={t.setup.camera.picture} />
      {data?.problem === null || data === null ? null : <Note tone="warn">{data.problem}</Note>}
      <Unfold title={t.setup.camera.choose}>
        <SourceForm
          section="video"
          name="source"
          label={t.setup.camera.source}
          options={options}
          onSaved={reload}
        />
      </Unfold>
    </>
  );
}
