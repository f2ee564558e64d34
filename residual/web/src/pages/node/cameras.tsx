import { Aperture, Camera, RefreshCw } from 'lucide';
import type { JSX } from 'preact';
import { hrefOf } from '../../app/route.ts';
import css from '../../network/node.module.css';
import { CameraChoice } from '../../parts/camera-choice.tsx';
import { LiveStill } from '../../parts/live-still.tsx';
import { Asked, Badge, Button, Card, EmptyState, Icon, Note } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

/** The cameras of this machine, and which of the configured ones is shown. */
export function Cameras({
  shown,
  onShown,
}: {
  readonly shown: string | null;
  readonly onShown: () => void;
}): JSX.Element {
  const asked = useAsk('video.cameras.get');
  const { data, reload } = asked;
  const text = t.node.video;
  const others = (data?.configured ?? []).filter(({ id }) => shown !== null && id !== shown);
  return (
    <Card
      title={text.cameras}
      icon={Aperture}
      actions={<Button kind="quiet" icon={RefreshCw} aria-label={text.look} onClick={reload} />}
    >
      <Asked
        of={asked}
        empty={({ cameras }) =>
          cameras.length === 0 ? <EmptyState icon={Camera} text={text.noCameras} /> : null
        }
      />
      <CameraChoice shown={shown} onShown={onShown} />
      {others.length === 0 ? null : (
        <ul class={css['others']}>
          {others.map(({ id, name }) => (
            <li key={id}>
              <LiveStill label={name} camera={id} />
              <span>{id === 'main' ? t.camera.main : name}</span>
            </li>
          ))}
        </ul>
      )}
      {data?.problem == null ? null : <Note tone="warn">{data.problem}</Note>}
      <ul class={css['items']}>
        {data?.cameras.map(({ device_path: path, label, width, height, source }) => (
          <li key={path}>
            <div class={css['with-icon']}>
              <Icon of={Camera} />
              <div>
                <strong>{label ?? path}</strong>
                <p class="hint">
                  {[path, width === null || height === null ? null : `${width} × ${height}`]
                    .filter((each) => each !== null && each !== label)
                    .join(' · ')}
                </p>
              </div>
            </div>
            {data.source === source ? <Badge tone="good">{text.inUse}</Badge> : null}
          </li>
        ))}
      </ul>
      <p class="hint">
        {text.sourceHint} <a href={hrefOf('node', 'config')}>{t.node.tab.config}</a>
      </p>
    </Card>
  );
}
