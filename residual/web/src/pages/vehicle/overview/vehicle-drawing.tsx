import type { JSX } from 'preact';
import css from './condition.module.css';

/** MAV_TYPE by what it looks like from above. */
const SHAPES: Readonly<Record<number, Shape>> = {
  1: 'plane',
  2: 'quad',
  3: 'heli',
  4: 'heli',
  10: 'rover',
  11: 'boat',
  12: 'sub',
  13: 'hexa',
  14: 'octo',
  15: 'tri',
  19: 'vtol',
  20: 'vtol',
  21: 'vtol',
  22: 'vtol',
  23: 'vtol',
  24: 'vtol',
  25: 'vtol',
  29: 'hexa',
};
type Shape = 'plane' | 'vtol' | 'quad' | 'hexa' | 'octo' | 'tri' | 'heli' | 'rover' | 'boat' | 'sub';

const ARMS = { tri: 3, quad: 4, hexa: 6, octo: 8 } as const;
const PATHS = {
  plane:
    'M50 10c4 5 5 12 5 20v6l35 12v8l-35-4-2 24 12 8v6l-15-4-15 4v-6l12-8-2-24-35 4v-8l35-12v-6c0-8 1-15 5-20z',
  rover: 'M30 20h40l6 18v38a6 6 0 0 1-6 6H30a6 6 0 0 1-6-6V38zM33 40h34M14 32v18M86 32v18M14 62v18M86 62v18',
  boat: 'M50 8c16 18 20 34 20 52v26H30V60c0-18 4-34 20-52zM38 58h24v16H38z',
  sub: 'M34 24h32a8 8 0 0 1 8 8v36a8 8 0 0 1-8 8H34a8 8 0 0 1-8-8V32a8 8 0 0 1 8-8zM42 12h16v12H42zM26 40H14v20h12M74 40h12v20H74',
  heli: 'M50 22c8 0 11 8 11 18s-4 16-8 19v25h7v6H40v-6h7V59c-4-3-8-9-8-19s3-18 11-18zM6 40h88M50 40h0',
} as const;
const VTOL_ROTORS = [
  [24, 28],
  [76, 28],
  [24, 66],
  [76, 66],
] as const;

/** The kind of the vehicle, drawn from above. It says nothing that does not stand in words beside it. @param type MAV_TYPE; null: not known */
export function VehicleDrawing({ type }: { readonly type: number | null }): JSX.Element {
  const shape = type === null ? 'quad' : (SHAPES[type] ?? 'quad');
  return (
    <svg class={css['drawing']} viewBox="0 0 100 100" aria-hidden="true">
      {shape === 'vtol' ? (
        <>
          <path d={PATHS.plane} />
          {VTOL_ROTORS.map(([x, y]) => (
            <circle key={`${x} ${y}`} cx={x} cy={y} r="9" />
          ))}
        </>
      ) : shape === 'plane' ||
        shape === 'rover' ||
        shape === 'boat' ||
        shape === 'sub' ||
        shape === 'heli' ? (
        <path d={PATHS[shape]} />
      ) : (
        <Copter arms={ARMS[shape]} />
      )}
    </svg>
  );
}

function Copter({ arms }: { readonly arms: number }): JSX.Element {
  const radius = arms > 6 ? 10 : 13;
  const ends = Array.from({ length: arms }, (_, at) => {
    const turn = ((at + 0.5) / arms) * 2 * Math.PI;
    return { x: 50 + 34 * Math.sin(turn), y: 50 - 34 * Math.cos(turn) };
  });
  return (
    <>
      {ends.map(({ x, y }) => (
        <g key={`${x} ${y}`}>
          <path d={`M50 50L${x.toFixed(1)} ${y.toFixed(1)}`} />
          <circle cx={x} cy={y} r={radius} />
        </g>
      ))}
      <rect x="39" y="37" width="22" height="26" rx="7" />
      <path d="M46 44l4-4 4 4" />
    </>
  );
}
