import type { JSX, TargetedPointerEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../strings.ts';
import css from './sticks.module.css';

/** Where a thumb is, from -1 to 1: right and down are positive, as with a gamepad. */
interface Thumb {
  readonly x: number;
  readonly y: number;
}

const MIDDLE: Thumb = { x: 0, y: 0 };

/** Two sticks for two thumbs, which go back to the middle when they are let go. @param onMove the four axes of a standard gamepad */
export function TouchSticks({ onMove }: { readonly onMove: (axes: readonly number[]) => void }): JSX.Element {
  const thumbs = useRef({ left: MIDDLE, right: MIDDLE });
  const moved = (side: 'left' | 'right') => (thumb: Thumb) => {
    thumbs.current = { ...thumbs.current, [side]: thumb };
    const { left, right } = thumbs.current;
    onMove([left.x, left.y, right.x, right.y]);
  };
  return (
    <div class={css['touch']}>
      <TouchStick name={t.fly.sticks.left} onMove={moved('left')} />
      <TouchStick name={t.fly.sticks.right} onMove={moved('right')} />
    </div>
  );
}

function TouchStick({
  name,
  onMove,
}: {
  readonly name: string;
  readonly onMove: (thumb: Thumb) => void;
}): JSX.Element {
  const [thumb, setThumb] = useState(MIDDLE);
  const finger = useRef<number | null>(null);
  const move = (at: Thumb): void => {
    setThumb(at);
    onMove(at);
  };
  const follow = (event: TargetedPointerEvent<HTMLDivElement>): void => {
    if (event.pointerId !== finger.current) return;
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * 2 - 1;
    const y = ((event.clientY - top) / height) * 2 - 1;
    move({ x: Math.max(-1, Math.min(1, x)), y: Math.max(-1, Math.min(1, y)) });
  };
  const letGo = (event: PointerEvent): void => {
    if (event.pointerId !== finger.current) return;
    finger.current = null;
    move(MIDDLE);
  };
  useEffect(() => () => onMove(MIDDLE), []);
  return (
    <div
      class={css['stick']}
      role="img"
      aria-label={name}
      onPointerDown={(event) => {
        if (finger.current !== null) return;
        finger.current = event.pointerId;
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={follow}
      onPointerUp={letGo}
      onPointerCancel={letGo}
      onLostPointerCapture={letGo}
      onContextMenu={(event) => event.preventDefault()}
    >
      <span class={css['thumb']} style={{ '--x': thumb.x, '--y': thumb.y }} />
    </div>
  );
}
