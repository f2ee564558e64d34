import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../app/theme.ts';
import { t } from '../strings.ts';
import { number } from './format.ts';
import './chart.css';

/** A line over time. */
export interface Line {
  readonly name: string;
  /** One for each time; null: not measured then, which leaves a gap. */
  readonly values: readonly (number | null)[];
}

const HEIGHT = 180;
const COLOURS = ['--accent', '--warn', '--good', '--bad'] as const;

/** Values over time. The library is loaded with the first chart. @param times seconds since 1970, ascending */
export function Chart({
  label,
  unit = '',
  digits = 1,
  times,
  lines,
}: {
  label: string;
  unit?: string;
  digits?: number;
  times: readonly number[];
  lines: readonly Line[];
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = [[...times], ...lines.map(({ values }) => [...values])];
  const names = lines.map(({ name }) => name).join('\n');
  const look = theme.value;
  useEffect(() => {
    let shown = true;
    let resize: ResizeObserver | null = null;
    const load = async (): Promise<void> => {
      const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]);
      const parent = box.current;
      if (!shown || parent === null) return;
      const made = new Plot(options(parent, names.split('\n'), digits), data.current, parent);
      plot.current = made;
      resize = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height: HEIGHT }));
      resize.observe(parent);
    };
    void load().catch(() => undefined); // the sentence beside it says the same
    return () => {
      shown = false;
      resize?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names, digits, look]);
  useEffect(() => plot.current?.setData(data.current), [times, lines]);
  return (
    <figure class="chart">
      <div ref={box} aria-hidden="true" class="plot" />
      <figcaption>
        {lines.map(({ name, values }, at) => (
          <span key={name} class={`line line-${at}`}>
            {name || label}: {summary(values, digits)} {unit}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function summary(values: readonly (number | null)[], digits: number): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return t.app.none;
  const bound = (pick: (a: number, b: number) => number): string =>
    number(
      known.reduce((a, b) => pick(a, b)),
      digits,
    );
  return t.chart.summary(number(known.at(-1), digits), bound(Math.min), bound(Math.max));
}

function options(parent: HTMLElement, names: readonly string[], digits: number): uPlot.Options {
  const style = getComputedStyle(parent);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--dim'),
    grid: { stroke: colour('--line'), width: 0.5 },
    ticks: { stroke: colour('--line'), width: 0.5 },
  };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    series: [
      {},
      ...names.map((name, at) => ({
        label: name,
        stroke: colour(COLOURS[at % COLOURS.length] ?? '--accent'),
        width: 2,
        // A line needs two values: one between gaps is a point.
        points: { show: true, size: 5, filter: alone },
      })),
    ],
    scales: {
      y: {
        // A line that does not move must not fill the picture with noise.
        range: (_, min: number | null, max: number | null) => {
          if (min === null || max === null) return [0, 1];
          const room = Math.max((max - min) * 0.1, 2 * 10 ** -digits);
          return [min - room, max + room];
        },
      },
    },
    axes: [
      { ...axis, values: (_, ticks, __, ___, step) => ticks.map((at) => clock(at, step)) },
      { ...axis, size: 56 },
    ],
  };
}

/** @param step between two of them, seconds */
function clock(seconds: number, step: number): string {
  return new Date(seconds * 1000).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(step < 60 ? { second: '2-digit' } : {}),
    hour12: false,
  });
}

function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}
