import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { may } from '../../api/node.ts';
import css from '../../network/node.module.css';
import { useAsk } from '../../parts/use-ask.ts';
import { Cameras } from './cameras.tsx';
import { PictureSize } from './picture-size.tsx';
import { Recordings } from './recordings.tsx';
import { ShownCamera } from './shown-camera.tsx';
import { Vision } from './vision.tsx';

const EVERY_MS = 3000;

/** The camera that is shown, the others, the detector, and what was recorded. */
export function VideoTab(): JSX.Element {
  const video = useAsk('video.get', {}, EVERY_MS);
  const [stored, setStored] = useState(0);
  const { state = 'off', encoder = null } = video.data ?? {};
  // Of a picture that is off, or comes encoded, the node does not choose the size.
  const hasSize = state !== 'off' && !(state === 'running' && encoder === null);
  return (
    <>
      <div class={css['video']}>
        <ShownCamera video={video} onStored={() => setStored((n) => n + 1)} />
        <div class={css['beside']}>
          <Cameras shown={video.data?.camera ?? null} onShown={video.reload} />
          {hasSize ? <PictureSize /> : null}
        </div>
      </div>
      <Recordings key={stored} />
      {may('vision.status.get') ? (
        <div class="page">
          <Vision />
        </div>
      ) : null}
    </>
  );
}
