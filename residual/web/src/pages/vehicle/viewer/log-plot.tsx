import { X } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { labelOf, lookOf } from '../../../parts/figures/chart.tsx';
import { Button } from '../../../parts/parts.tsx';
import { theme } from '../../../parts/theme.ts';
import { t } from '../../../strings.ts';
import type { LogEvent, LogMode } from './read/marks.ts';
import type { Points } from './read/points.ts';
import type { FieldId } from './read/summary.ts';
import { elapsed } from './times.ts';
import css from './viewer.module.css';
import { viewerWords as words } from './viewer-words.ts';

/** A field in a plot. */
export interface PlotLine {
  readonly id: FieldId;
  readonly label: string;
  readonly unit: string;
  /** null: they have not come yet. */
  readonly points: Points | null;
  /** Under the cursor. */
  readonly value: number | null;
}

interface PlotProps {
  readonly label: string;
  readonly lines: readonly PlotLine[];
  /** Places to mark: where a line is lowest. */
  readonly dips: readonly { readonly at: number; readonly value: number }[];
  readonly range: readonly [number, number];
  readonly modes: readonly LogMode[];
  readonly events: readonly LogEvent[];
  readonly cursor: number | null;
  readonly onCursor: (at: number) => void;
  readonly onRange: (from: number, to: number) => void;
  readonly onRemove: (id: FieldId) => void;
}

const HEIGHT = 260;
/** Of the names of the lines, in the same order. */
const LINES = [css['line-0'], css['line-1'], css['line-2'], css['line-3'], css['line-4'], css['line-5']];
const COLOURS = ['--accent', '--warn', '--good', '--bad', '--text', '--dim'] as const;
/** Steps between the times at the axis that read well in minutes and seconds. */
const STEPS_S = [
  1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
  7200, 18_000, 36_000, 86_400, 864_000,
];
/** Of a drag that means a part, px. */
const MIN_SELECT = 5;
const DIGITS = 7;

/** Fields over the time of the log, with its modes behind them and its events as lines. */
export function LogPlot(props: PlotProps): JSX.Element {
  const { label, lines, dips, range, cursor, onRemove } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const labels = lines.map((line) => line.label).join('\n');
  const look = theme.value;
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return;
    const made = new Plot(optionsOf(parent, latest), dataOf(latest.current), parent);
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height: HEIGHT }));
    resize.observe(parent);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [labels, look]);
  const marks = dips.map(({ at, value }) => `${at} ${value}`).join();
  useEffect(() => plot.current?.redraw(), [marks]);
  const drawn = lines.map(({ points }) => points);
  useEffect(() => plot.current?.setData(dataOf(latest.current)), [...range, drawn.length, ...padded(drawn)]);
  useEffect(() => {
    const now = plot.current;
    if (now === null || cursor === null) return;
    const { left = -1, top = 0 } = now.cursor;
    const wanted = now.valToPos(cursor, 'x');
    if (Math.abs(wanted - left) > 1) now.setCursor({ left: wanted, top: Math.max(0, top) }, false);
  }, [cursor, ...range]);
  return (
    <figure class={css['figure']} aria-label={label}>
      <div ref={box} aria-hidden="true" />
      <figcaption>
        {lines.length === 0 ? <span class="hint">{words.emptyPlot}</span> : null}
        {lines.map((line, at) => (
          <span key={line.label} class={LINES[at % LINES.length]}>
            {line.label}: {line.value === null ? t.app.none : Number(line.value.toPrecision(DIGITS))}{' '}
            {line.unit}{' '}
            <Button
              kind="quiet"
              icon={X}
              aria-label={words.removeField({ name: line.label })}
              onClick={() => onRemove(line.id)}
            />
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Each once: a plot may have several. */
function unitsOf({ lines }: PlotProps): string {
  return [...new Set(lines.map(({ unit }) => unit).filter((unit) => unit !== ''))].join(', ');
}

/** An effect watches the same number of things each time. */
const MAX_WATCHED = 16;
function padded(drawn: readonly (Points | null)[]): readonly (Points | null)[] {
  return Array.from({ length: MAX_WATCHED }, (_, at) => drawn[at] ?? null);
}

/** Each field has times of its own; where another has one, the line goes on. */
function dataOf({ lines, range }: PlotProps): Plot.AlignedData {
  const tables = lines.map(
    ({ points }): Plot.AlignedData =>
      points === null || points.times.length === 0 ? [[range[0]], [null]] : [points.times, points.values],
  );
  const [first, ...others] = tables;
  if (first === undefined) return [[...range]];
  return others.length === 0 ? first : Plot.join(tables);
}

function optionsOf(parent: HTMLElement, latest: { readonly current: PlotProps }): Plot.Options {
  const { colour, axis } = lookOf(parent);
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: () => [...bounds(latest.current.range)] } },
    series: [
      {},
      ...latest.current.lines.map(({ label }, at) => ({
        label,
        stroke: colour(COLOURS[at % COLOURS.length] ?? '--accent'),
        width: 1.5,
        spanGaps: true,
      })),
    ],
    axes: [
      {
        ...axis,
        ...labelOf(words.time),
        incrs: STEPS_S,
        values: (_, ticks, __, ___, step) => ticks.map((at) => elapsed(at, step)),
      },
      { ...axis, size: 64, ...labelOf(unitsOf(latest.current)) },
    ],
    hooks: {
      drawClear: [(plot) => drawModes(plot, latest.current.modes, colour)],
      draw: [
        (plot) => drawEvents(plot, latest.current.events, colour),
        (plot) => drawDips(plot, latest.current.dips, colour),
      ],
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor;
          if (left >= 0) latest.current.onCursor(plot.posToVal(left, 'x'));
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < MIN_SELECT) return;
          latest.current.onRange(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
    },
  };
}

function bounds([from, to]: readonly [number, number]): readonly [number, number] {
  return [from, to > from ? to : from + 1];
}

/** A band for each mode, with its name where there is room. */
function drawModes(plot: Plot, modes: readonly LogMode[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const names = [...new Set(modes.map(({ name }) => name))];
  ctx.save();
  ctx.font = `${Math.round(11 * devicePixelRatio)}px system-ui`;
  ctx.textBaseline = 'top';
  for (const { name, from, to } of modes) {
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true));
    if (right <= left) continue;
    ctx.fillStyle = `${colour(COLOURS[names.indexOf(name) % COLOURS.length] ?? '--accent')}1c`;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    if (ctx.measureText(name).width + 8 > right - left) continue;
    ctx.fillStyle = colour('--dim');
    ctx.fillText(name, left + 4, bbox.top + 3);
  }
  ctx.restore();
}

const EVENT_COLOURS = { bad: '--bad', warn: '--warn', info: '--line' } as const;

function drawEvents(plot: Plot, events: readonly LogEvent[], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const { at, tone } of events) {
    const x = plot.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colour(EVENT_COLOURS[tone]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** A ring around each. */
function drawDips(plot: Plot, dips: PlotProps['dips'], colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.strokeStyle = colour('--bad');
  for (const { at, value } of dips) {
    const [x, y] = [plot.valToPos(at, 'x', true), plot.valToPos(value, 'y', true)];
    if (x < bbox.left || x > bbox.left + bbox.width || !Number.isFinite(y)) continue;
    ctx.beginPath();
    ctx.arc(x, y, 6 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.restore();
}
