import {
  ArrowLeft,
  ArrowRight,
  ChartLine,
  Download,
  FileClock,
  Maximize,
  TrendingDown,
  ZoomIn,
  ZoomOut,
} from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { saveBlob } from '../../../parts/files.ts';
import { moment, number, span as spanText } from '../../../parts/format.ts';
import { Button, Card, Field, Note } from '../../../parts/parts.tsx';
import { type LogClient, LogFailure } from './log-client.ts';
import { LogMarks } from './log-marks.tsx';
import { LogPlot, type PlotLine } from './log-plot.tsx';
import { LogReport } from './log-report.tsx';
import type { LogPart } from './log-source.ts';
import { LogTrack } from './log-track.tsx';
import { LogTree } from './log-tree.tsx';
import { isVoltage, lowest, PRESET_ICONS, PRESETS, type PresetId, plotsOf } from './presets.ts';
import type { Points } from './read/points.ts';
import type { FieldId, LogSummary } from './read/summary.ts';
import { elapsed, type LogTimes, timesOf } from './times.ts';
import css from './viewer.module.css';

import { viewerWords as words } from './viewer-words.ts';

const MAX_FIELDS = 16;
/** What a plot can tell apart. */
const BUCKETS = 1000;
const ZOOM = 2;
/** s; below it nothing is told apart. */
const MIN_RANGE = 0.001;

/**
 * A log that was read: its messages, and what was chosen of them. Times are seconds since its beginning.
 * @param part what is shown at first, with the battery: a flight
 */
export function OpenedLog({
  name,
  client,
  summary,
  part,
  actions,
  children,
}: {
  name: string;
  client: LogClient;
  summary: LogSummary;
  part: LogPart | null;
  actions: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  const times = useMemo(() => timesOf(summary), [summary]);
  const [plots, setPlots] = useState<readonly (readonly FieldId[])[]>(
    () => (part === null ? null : plotsOf('battery', summary.groups)) ?? [[]],
  );
  const [active, setActive] = useState(0);
  const [range, setRange] = useState(() => rangeOf(times, part));
  const [cursor, setCursor] = useState<number | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const fields = plots.flat();
  const fail = (error: unknown): void => {
    if (!(error instanceof LogFailure)) throw error;
    setFailure(error.message);
  };
  const points = usePoints(client, times, plots, range, fail);
  const values = useValues(client, times, fields, cursor, fail);

  const toggle = (id: FieldId): void => {
    const isShown = fields.some((each) => same(each, id));
    if (!isShown && fields.length >= MAX_FIELDS) return setFailure(words.tooMany({ count: MAX_FIELDS }));
    setFailure(null);
    setPlots(
      plots.map((plot, at) =>
        isShown ? plot.filter((each) => !same(each, id)) : at === active ? [...plot, id] : plot,
      ),
    );
  };
  const zoom = (factor: number, move = 0): void => {
    const [from, to] = range;
    const half = Math.max(MIN_RANGE, ((to - from) * factor) / 2);
    const middle = (from + to) / 2 + move * (to - from);
    setRange([Math.max(0, middle - half), Math.min(times.length, Math.max(middle + half, MIN_RANGE))]);
  };
  const look = (from: number, to: number): void => {
    if (to - from >= MIN_RANGE) setRange([Math.max(0, from), Math.min(times.length, to)]);
  };
  const save = async (): Promise<void> => {
    const [from, to] = range;
    try {
      const ask = { fields, from: from + times.start, to: to + times.start };
      saveBlob(await client.ask('csv', ask), words.csvName({ name }));
    } catch (error) {
      fail(error);
    }
  };
  const lineOf = (id: FieldId): PlotLine => {
    const key = keyOf(id);
    const group = summary.groups[id.group];
    const field = group?.fields[id.field];
    const label = `${group?.name ?? ''}.${field?.name ?? ''}`;
    return {
      id,
      label,
      unit: field?.unit ?? '',
      points: points.get(key) ?? null,
      value: values.get(key) ?? null,
    };
  };
  const show = (id: PresetId): void => {
    const chosen = plotsOf(id, summary.groups);
    if (chosen === null) return;
    setFailure(null);
    setPlots(chosen);
    setActive(0);
  };
  const dips = fields.flatMap((id) => {
    const field = summary.groups[id.group]?.fields[id.field];
    const drawn = points.get(keyOf(id));
    if (field === undefined || drawn === undefined || !isVoltage(field.name)) return [];
    const dip = lowest(drawn.times, drawn.values, range);
    return dip === null
      ? []
      : [{ ...dip, id, label: lineOf(id).label, volts: voltsOf(dip.value, field.unit) }];
  });
  return (
    <>
      <Card wide title={name} icon={FileClock} actions={actions}>
        <p>
          {words.about({
            kind: words.kinds[summary.kind],
            messages: summary.groups.length,
            rows: summary.rows,
            length: spanText(times.length),
          })}{' '}
          {times.utcOfStart === null ? null : words.start({ at: moment(times.utcOfStart) })}
        </p>
        {summary.full ? <Note tone="warn">{words.full({ rows: summary.rows })}</Note> : null}
        {failure === null ? null : <Note tone="bad">{failure}</Note>}
        {summary.kind === 'tlog' ? null : <LogReport client={client} onFailure={fail} />}
        {children}
      </Card>
      <div class={css['columns']}>
        <LogTree
          groups={summary.groups}
          isShown={(id) => fields.some((each) => same(each, id))}
          onToggle={toggle}
        />
        <Card wide title={words.plots} icon={ChartLine}>
          <div class="row" role="group" aria-label={words.presets}>
            {PRESETS.map((id) => (
              <Button
                key={id}
                icon={PRESET_ICONS[id]}
                why={plotsOf(id, summary.groups) === null ? words.noPreset : null}
                onClick={() => show(id)}
              >
                {words.preset[id]}
              </Button>
            ))}
          </div>
          {dips.map((dip) => (
            <Button key={keyOf(dip.id)} kind="quiet" icon={TrendingDown} onClick={() => setCursor(dip.at)}>
              {words.lowest({
                volts: number(dip.volts, 2),
                at: elapsed(dip.at, 1),
                field: dips.length > 1 ? dip.label : null,
              })}
            </Button>
          ))}
          <div class="row" role="group" aria-label={words.range}>
            <Button kind="quiet" icon={ZoomIn} aria-label={words.zoomIn} onClick={() => zoom(1 / ZOOM)} />
            <Button kind="quiet" icon={ZoomOut} aria-label={words.zoomOut} onClick={() => zoom(ZOOM)} />
            <Button kind="quiet" icon={ArrowLeft} aria-label={words.earlier} onClick={() => zoom(1, -0.5)} />
            <Button kind="quiet" icon={ArrowRight} aria-label={words.later} onClick={() => zoom(1, 0.5)} />
            <Button
              kind="quiet"
              icon={Maximize}
              aria-label={words.whole}
              onClick={() => setRange([0, times.length])}
            />
            <Button
              icon={Download}
              why={fields.length === 0 ? words.csvHint : null}
              onClick={() => void save()}
            >
              {words.csv}
            </Button>
          </div>
          {plots.map((plot, at) => (
            // A plot has nothing of its own besides its place.
            <div key={at}>
              <LogPlot
                label={words.plot({ number: at + 1 })}
                lines={plot.map(lineOf)}
                dips={dips.filter((dip) => plot.some((id) => same(id, dip.id)))}
                range={range}
                modes={times.modes}
                events={times.events}
                cursor={cursor}
                onCursor={setCursor}
                onRange={look}
                onRemove={toggle}
              />
              {plots.length < 2 ? null : (
                <Button
                  onClick={() => {
                    setPlots(plots.filter((_, other) => other !== at));
                    setActive(0);
                  }}
                >
                  {words.removePlot({ number: at + 1 })}
                </Button>
              )}
            </div>
          ))}
          <p aria-live="off">
            {cursor === null ? words.dragHint : words.cursorAt({ time: cursorText(times, cursor) })}
          </p>
          <div class="row">
            <Button
              onClick={() => {
                setPlots([...plots, []]);
                setActive(plots.length);
              }}
            >
              {words.addPlot}
            </Button>
            {plots.length < 2 ? null : (
              <Field label={words.into}>
                {(ids) => (
                  <select
                    {...ids}
                    value={active}
                    onChange={(event) => setActive(Number(event.currentTarget.value))}
                  >
                    {plots.map((_, at) => (
                      <option key={at} value={at}>
                        {words.plot({ number: at + 1 })}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            )}
          </div>
        </Card>
        <LogTrack client={client} times={times} cursor={cursor} onCursor={setCursor} onFailure={fail} />
        <LogMarks times={times} isFull={summary.marksFull} onCursor={setCursor} />
      </div>
    </>
  );
}

/** The flight that was asked for, where the log says when it was; else all of it. */
function rangeOf({ length, utcOfStart }: LogTimes, part: LogPart | null): readonly [number, number] {
  if (part === null || utcOfStart === null) return [0, length];
  const from = Math.max(0, (part.from - utcOfStart) / 1000);
  const to = Math.min(length, (part.to - utcOfStart) / 1000);
  return to - from >= MIN_RANGE ? [from, to] : [0, length];
}

/** MAVLink has millivolts, the others have volts. */
function voltsOf(value: number, unit: string): number {
  return unit === 'mV' ? value / 1000 : value;
}

function same(a: FieldId, b: FieldId): boolean {
  return a.group === b.group && a.field === b.field;
}

function keyOf({ group, field }: FieldId): string {
  return `${group} ${field}`;
}

function cursorText({ utcOfStart }: LogTimes, at: number): string {
  return utcOfStart === null ? elapsed(at) : `${elapsed(at)}, ${moment(utcOfStart + at * 1000)}`;
}

/** What the plots show of each field; of the range before until the newer ones are there. */
function usePoints(
  client: LogClient,
  { start }: LogTimes,
  plots: readonly (readonly FieldId[])[],
  [from, to]: readonly [number, number],
  onFailure: (error: unknown) => void,
): ReadonlyMap<string, Points> {
  const [points, setPoints] = useState<ReadonlyMap<string, Points>>(new Map());
  const fields = plots.flat();
  const keys = fields.map(keyOf).join();
  useEffect(() => {
    let wanted = true;
    const ask = async (): Promise<void> => {
      const got = await client.ask('points', {
        fields,
        from: from + start,
        to: to + start,
        buckets: BUCKETS,
      });
      if (!wanted) return;
      const shifted = got.map(({ times, values }) => ({ times: times.map((at) => at - start), values }));
      setPoints(
        new Map(fields.flatMap((id, at) => (shifted[at] === undefined ? [] : [[keyOf(id), shifted[at]]]))),
      );
    };
    if (fields.length > 0) ask().catch((error: unknown) => wanted && onFailure(error));
    return () => {
      wanted = false;
    };
  }, [client, keys, from, to]);
  return points;
}

/** The values under the cursor: one question at a time, then the newest place. */
function useValues(
  client: LogClient,
  { start }: LogTimes,
  fields: readonly FieldId[],
  cursor: number | null,
  onFailure: (error: unknown) => void,
): ReadonlyMap<string, number | null> {
  const [values, setValues] = useState<ReadonlyMap<string, number | null>>(new Map());
  const next = useRef<{ readonly fields: readonly FieldId[]; readonly at: number } | null>(null);
  const asks = useRef(false);
  const keys = fields.map(keyOf).join();
  useEffect(() => {
    if (cursor === null || fields.length === 0) return;
    next.current = { fields, at: cursor + start };
    const ask = async (): Promise<void> => {
      for (let now = next.current; now !== null; now = next.current) {
        next.current = null;
        const wanted = now.fields;
        const got = await client.ask('values', now);
        setValues(new Map(wanted.map((id, at) => [keyOf(id), got[at] ?? null])));
      }
    };
    if (asks.current) return;
    asks.current = true;
    ask()
      .catch(onFailure)
      .finally(() => {
        asks.current = false;
      });
  }, [client, keys, cursor]);
  return values;
}
