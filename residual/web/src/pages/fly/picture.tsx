import type { JSX } from 'preact';
import { VideoOverlays } from '../../extensions/panels.tsx';
import { t } from '../../strings.ts';
import type { Watching } from '../../video/watching.ts';
import { Boxes } from './boxes.tsx';
import css from './picture.module.css';
import { isWhole, type PictureView } from './use-picture.ts';

/** The camera's picture, with what is seen in it and what extensions draw over it. */
export function Picture({ view: { video, watching, large } }: { readonly view: PictureView }): JSX.Element {
  const isLarge = large === 'picture';
  return (
    <div class={`${css['picture']} ${isWhole.value ? 'whole' : ''}`}>
      {/* It has no sound and no text. */}
      <video
        ref={video}
        class={watching?.live.value === true ? '' : 'not-live'}
        aria-label={t.fly.video.label}
        muted
        autoplay
        playsInline
      />
      {watching === null ? null : (
        <>
          <Still watching={watching} />
          <Boxes watching={watching} large={isLarge} />
          {isLarge ? <VideoOverlays /> : null}
        </>
      )}
    </div>
  );
}

function Still({ watching }: { readonly watching: Watching }): JSX.Element | null {
  const still = watching.still.value;
  return still === null ? null : <img src={still.url} alt={t.fly.video.label} />;
}
