import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { t } from '../../strings.ts';
import { clock, day, number } from '../format.ts';
import { theme } from '../theme.ts';
import css from './chart.module.css';

/** A line over time. */
export interface Line {
  readonly name: string;
  /** One for each time; null: not measured then, which leaves a gap. */
  readonly values: readonly (number | null)[];
  /** Lowest and highest at each time, where a value stands for many. */
  readonly least?: readonly (number | null)[];
  readonly most?: readonly (number | null)[];
}

const HEIGHT = 200;
/** The edge of a band: the fill between two of them is what is seen, and a lone bucket as a point. */
const EDGE = { stroke: 'transparent', points: { show: false } } as const;
const COLOURS = ['--accent', '--warn', '--good', '--bad'] as const;

/** Values over time. The library is loaded with the first chart. @param times seconds since 1970, ascending */
export function Chart({
  label,
  unit = '',
  digits = 1,
  times,
  lines,
  seconds,
}: {
  label: string;
  unit?: string;
  digits?: number;
  times: readonly number[];
  lines: readonly Line[];
  /** How much time is shown, up to now; without it what there is. */
  seconds?: number;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  const banded = lines.every(({ least, most }) => least !== undefined && most !== undefined);
  data.current = [
    [...times],
    ...lines.map(({ values }) => [...values]),
    ...(banded ? lines.flatMap(({ least = [], most = [] }) => [[...most], [...least]]) : []),
  ];
  const names = lines.map(({ name }) => name).join('\n');
  const look = theme.value;
  useEffect(() => {
    let shown = true;
    let resize: ResizeObserver | null = null;
    const load = async (): Promise<void> => {
      const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]);
      const parent = box.current;
      if (!shown || parent === null) return;
      const made = new Plot(
        options(parent, names.split('\n'), banded, digits, unit, seconds),
        data.current,
        parent,
      );
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
  }, [names, banded, digits, unit, look, seconds]);
  useEffect(() => plot.current?.setData(data.current), [times, lines]);
  return (
    <figure class={css['chart']}>
      <div ref={box} aria-hidden="true" class={css['plot']} />
      <figcaption>
        {lines.map((line, at) => (
          <span key={line.name} class={`line line-${at}`}>
            {line.name || label}: {`${summary(line, digits)}${unit === '' ? '' : `\u00a0${unit}`}`}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function summary({ values, least = values, most = values }: Line, digits: number): string {
  const known = (of: readonly (number | null)[]): readonly number[] => of.filter((value) => value !== null);
  const newest = known(values).at(-1);
  if (newest === undefined) return t.app.none;
  const lowest = known(least).reduce((a, b) => Math.min(a, b), newest);
  const highest = known(most).reduce((a, b) => Math.max(a, b), newest);
  return t.chart.summary({
    newest: number(newest, digits),
    least: number(lowest, digits),
    most: number(highest, digits),
  });
}

interface Look {
  /** Of a role, `--accent`. */
  readonly colour: (role: string) => string;
  readonly axis: uPlot.Axis;
}

/** How every chart looks at this place of the page, in the theme of now. */
export function lookOf(place: HTMLElement): Look {
  const style = getComputedStyle(place);
  const colour = (role: string): string => style.getPropertyValue(role).trim();
  const line = { stroke: colour('--line'), width: 0.5 };
  return { colour, axis: { stroke: colour('--dim'), grid: line, ticks: line } };
}

/** What stands at an axis: its unit, or its name. */
export function labelOf(label: string): Pick<uPlot.Axis, 'label' | 'labelSize'> {
  return label === '' ? {} : { label, labelSize: 20 };
}

/** @param banded whether each line has two more series behind all lines: its highest and its lowest */
function options(
  parent: HTMLElement,
  names: readonly string[],
  banded: boolean,
  digits: number,
  unit: string,
  seconds: number | undefined,
): uPlot.Options {
  const { colour, axis } = lookOf(parent);
  const strokeOf = (at: number): string => colour(COLOURS[at % COLOURS.length] ?? '--accent');
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    series: [
      {},
      ...names.map((name, at) => ({
        label: name,
        stroke: strokeOf(at),
        width: 2,
        // A line needs two values: one between gaps is a point.
        points: { show: true, size: 5, filter: alone },
      })),
      ...(banded ? names.flatMap(() => [EDGE, EDGE]) : []),
    ],
    bands: banded
      ? names.map((_, at) => {
          const high = 1 + names.length + 2 * at;
          return { series: [high, high + 1], fill: `${strokeOf(at)}40` };
        })
      : [],
    scales: {
      ...(seconds === undefined
        ? {}
        : { x: { range: () => [Date.now() / 1000 - seconds, Date.now() / 1000] as [number, number] } }),
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
      {
        ...axis,
        ...labelOf(t.chart.time),
        values: (_, ticks, __, ___, step) => ticks.map((at) => tick(at, step)),
      },
      { ...axis, size: unit === '' ? 56 : 72, ...labelOf(unit) },
    ],
  };
}

const DAY_S = 86_400;

/** @param step between two of them, seconds */
function tick(seconds: number, step: number): string {
  return step >= DAY_S ? day(seconds * 1000) : clock(seconds * 1000, step < 60);
}

function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}
