import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Card } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { Actions } from './actions.tsx';
import { Figures, KeyFigures } from './figures.tsx';
import css from './fly.module.css';
import { FlyMap } from './fly-map.tsx';
import { Horizon } from './horizon.tsx';
import { Messages, Traffic } from './messages.tsx';
import { OtherCameras } from './other-cameras.tsx';
import { Picture } from './picture.tsx';
import { StatusStrip } from './status-strip.tsx';
import { Sticks } from './sticks/sticks.tsx';
import { useWakeLock } from './wake-lock.ts';

// What the pilot looked at stays large when the page is opened again.
const large = signal<'picture' | 'map'>('picture');

/** The page to fly by: picture and map, instruments, commands, the vehicle's words. */
export default function Fly(): JSX.Element {
  const stage = useRef<HTMLElement>(null);
  const [camera, setCamera] = useState<string | null>(null);
  const isMap = large.value === 'map';
  useWakeLock();
  return (
    <div class={`page ${css['fly']}`}>
      <StatusStrip />
      <section ref={stage} class={`${css['stage']} ${large.value}-large`} aria-label={t.fly.stage}>
        <div class={`${css['pane']} ${isMap ? 'small' : ''}`}>
          <Picture large={!isMap} stage={stage} onCamera={setCamera} />
        </div>
        <div class={`${css['pane']} ${isMap ? '' : 'small'}`}>
          <FlyMap large={isMap} />
        </div>
        <button
          type="button"
          class={css['swap']}
          aria-label={isMap ? t.fly.pictureLarge : t.fly.mapLarge}
          title={isMap ? t.fly.pictureLarge : t.fly.mapLarge}
          onClick={() => {
            large.value = isMap ? 'picture' : 'map';
          }}
        />
        <div class={css['overlay']}>
          <Horizon />
          <KeyFigures />
        </div>
      </section>
      <div class={css['side']}>
        <OtherCameras shown={camera} onShown={setCamera} />
        <Actions />
        <Sticks />
        <Card title={t.fly.instruments}>
          <Figures />
        </Card>
        <Traffic />
        <Messages />
      </div>
    </div>
  );
}
