import type { JSX } from 'preact';
import { steady } from '../../api/steady.ts';
import { fresh } from '../../api/telemetry.ts';
import { HorizonDial } from '../../parts/figures/horizon-dial.tsx';
import css from './instruments.module.css';

const DEGREE = 180 / Math.PI;
const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

export function compass(heading: number): string {
  return POINTS[Math.round(heading / 45) % 8] ?? '';
}

/** To a tenth of a degree: less is not seen, and sensors are never quite still. */
const seen = (degrees: number): number => Math.round(degrees * 10) / 10;

const attitude = steady(() =>
  fresh('attitude', ({ attitude: { roll, pitch } }) =>
    typeof roll === 'number' && typeof pitch === 'number'
      ? { roll: seen(roll * DEGREE), pitch: seen(pitch * DEGREE) }
      : null,
  ),
);
const turned = steady(() => {
  const heading = fresh('position', ({ position }) => position.heading);
  return heading === null ? null : seen(heading);
});

/** Attitude and heading, as an aircraft's own instrument shows them. */
export function Horizon(): JSX.Element {
  return <HorizonDial class={css['horizon']} attitude={attitude.value} heading={turned.value} />;
}

/** Degrees that the tape shows, and how wide one is. */
const HALF = 55;
const DEGREE_PX = 3;
const MARK = 15;

const whole = steady(() => {
  const heading = fresh('position', ({ position }) => position.heading);
  return heading === null ? null : Math.round(heading) % 360;
});

/** Where the nose points, on a tape; for wide windows. The dial says it too, so it is not read out. */
export function HeadingTape(): JSX.Element | null {
  const heading = whole.value;
  if (heading === null) return null;
  const from = Math.ceil((heading - HALF) / MARK) * MARK;
  const marks = Array.from({ length: Math.floor((2 * HALF) / MARK) + 1 }, (_, at) => from + at * MARK);
  return (
    <svg class={css['tape']} viewBox={`${-HALF * DEGREE_PX} 0 ${2 * HALF * DEGREE_PX} 48`} aria-hidden="true">
      {marks.map((degrees) => {
        const around = ((degrees % 360) + 360) % 360;
        const x = (degrees - heading) * DEGREE_PX;
        return (
          <g key={degrees} transform={`translate(${x} 0)`}>
            <path d={around % 45 === 0 ? 'M0 26V18' : 'M0 26V22'} />
            {around % 45 === 0 ? (
              <text y={13} class={around === 0 ? 'north' : ''}>
                {compass(around)}
              </text>
            ) : around % 30 === 0 ? (
              <text y={13} class="degrees">
                {around}
              </text>
            ) : null}
          </g>
        );
      })}
      <path class="nose" d="M0 26L5 33H-5Z" />
      <text class="now" y={46}>
        {String(heading).padStart(3, '0')}
      </text>
    </svg>
  );
}
