import type { JSX } from 'preact';
import { t } from '../../strings.ts';
import { number } from '../format.ts';
import css from './horizon-dial.module.css';

const PITCH_PX = 1.3;

// What never changes is made once: it is not compared anew with each attitude.
const GROUND = (
  <>
    <rect class={css['sky']} x={-120} y={-240} width={240} height={240} />
    <rect class={css['earth']} x={-120} y={0} width={240} height={240} />
    <path
      class={css['ladder']}
      d={[-20, -10, 0, 10, 20]
        .map((degree) => {
          const half = degree === 0 ? 120 : degree % 20 === 0 ? 14 : 9;
          return `M${-half} ${-degree * PITCH_PX}H${half}`;
        })
        .join('')}
    />
  </>
);
const ROSE = (
  <>
    {(['N', 'E', 'S', 'W'] as const).map((point, at) => (
      <text key={point} transform={`rotate(${at * 90})`} y={-49} class={point === 'N' ? 'north' : ''}>
        {point}
      </text>
    ))}
  </>
);

/**
 * Attitude and heading, as an aircraft's own instrument shows them.
 * @param attitude degrees; null: not known now
 * @param heading degrees from north
 */
export function HorizonDial({
  attitude,
  heading,
  class: name = '',
}: {
  readonly attitude: { readonly roll: number; readonly pitch: number } | null;
  readonly heading: number | null;
  readonly class?: string | undefined;
}): JSX.Element {
  return (
    <svg
      class={`${css['horizon']} ${name} ${attitude === null ? 'stale' : ''}`}
      viewBox="-60 -60 120 120"
      role="img"
      aria-label={
        attitude === null
          ? t.fly.horizonNone
          : t.fly.horizon({ roll: number(attitude.roll), pitch: number(attitude.pitch) })
      }
    >
      <clipPath id="horizon-round">
        <circle r={46} />
      </clipPath>
      <circle class={css['dial']} r={58} />
      <g clip-path="url(#horizon-round)">
        {attitude === null ? (
          <rect class={css['unknown']} x={-60} y={-60} width={120} height={120} />
        ) : (
          <g transform={`rotate(${-attitude.roll}) translate(0 ${attitude.pitch * PITCH_PX})`}>{GROUND}</g>
        )}
      </g>
      <path class={css['wings']} d="M-26 0H-9L0 6L9 0H26" />
      {heading === null ? null : <g transform={`rotate(${-heading})`}>{ROSE}</g>}
      <path class={css['nose']} d="M0 -44L4 -37H-4Z" />
    </svg>
  );
}
