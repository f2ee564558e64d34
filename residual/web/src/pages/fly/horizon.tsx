import type { JSX } from 'preact';
import { fresh } from '../../api/telemetry.ts';
import { HorizonDial } from '../../parts/horizon-dial.tsx';
import css from './fly.module.css';

const DEGREE = 180 / Math.PI;
const POINTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

export function compass(heading: number): string {
  return POINTS[Math.round(heading / 45) % 8] ?? '';
}

/** Attitude and heading, as an aircraft's own instrument shows them. */
export function Horizon(): JSX.Element {
  const attitude = fresh('attitude', ({ attitude: { roll, pitch } }) =>
    typeof roll === 'number' && typeof pitch === 'number'
      ? { roll: roll * DEGREE, pitch: pitch * DEGREE }
      : null,
  );
  const heading = fresh('position', ({ position }) => position.heading);
  return <HorizonDial class={css['horizon']} attitude={attitude} heading={heading} />;
}
