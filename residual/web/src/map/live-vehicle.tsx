import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useFrames } from './context.ts';
import { type Craft, SHAPES } from './craft.ts';
import type { Glide } from './glide.ts';

/** The vehicle, where it glides to: moved in every frame without being rendered. */
export function LiveVehicle({
  glide,
  craft,
  old,
  astray,
}: {
  readonly glide: Glide;
  readonly craft: Craft;
  /** Where it was last, a while ago. */
  readonly old: boolean;
  /** Why it is not where it is drawn, or not surely; null: it is. */
  readonly astray: { readonly state: string; readonly text: string } | null;
}): JSX.Element {
  const frames = useFrames();
  const box = useRef<HTMLDivElement>(null);
  const shape = useRef<SVGSVGElement>(null);
  useEffect(
    () =>
      frames.add((live, now) => {
        const pose = glide.at(now);
        const style = box.current?.style;
        if (style === undefined || shape.current === null) return false;
        style.visibility = pose === null ? 'hidden' : 'visible';
        if (pose === null) return false;
        const { x, y } = live.toScreen(pose.place);
        style.transform = `translate(${x.toFixed(2)}px,${y.toFixed(2)}px)`;
        shape.current.classList.toggle('no-heading', pose.heading === null);
        shape.current.style.transform = `rotate(${((pose.heading ?? 0) - live.bearing).toFixed(2)}deg)`;
        return glide.moves(now);
      }),
    [glide],
  );
  const { body, under } = SHAPES[craft];
  return (
    <div
      ref={box}
      class={`live-vehicle vehicle${old ? ' old' : ''}${astray === null ? '' : ` astray ${astray.state}`}`}
      aria-hidden="true"
    >
      <svg ref={shape} viewBox="-20 -20 40 40">
        <circle class="without-heading" r={9} />
        {under === undefined ? null : <path class="under" d={under} />}
        <path class="body" d={body} />
      </svg>
      {astray === null ? null : <span>{astray.text}</span>}
    </div>
  );
}
