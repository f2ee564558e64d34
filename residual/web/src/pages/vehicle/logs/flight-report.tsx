import { CircleCheck, ClipboardCheck, Info, OctagonAlert, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { may } from '../../../api/node.ts';
import type { Answer } from '../../../api/rows.ts';
import { number, span } from '../../../parts/format.ts';
import { ErrorNote, Icon, Progress, Stat, Unfold } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from './logs.module.css';

type Report = Answer<'tlogs.name.report.get'>;

const text = t.vehicle.plots;
const CLASSES = { info: '', warning: css['warning'], critical: css['critical'] } as const;
const MARKS = { info: Info, warning: TriangleAlert, critical: OctagonAlert } as const;

/** What happened in a flight, worked out by the node when somebody wants to know: it reads the whole log for it. */
export function FlightReport({
  tlog,
  name,
}: {
  readonly tlog: string;
  readonly name: string;
}): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (!may('tlogs.name.report.get')) return null;
  return (
    <Unfold title={text.report} icon={ClipboardCheck} onToggle={setOpen}>
      {open ? <Loaded tlog={tlog} name={name} /> : null}
    </Unfold>
  );
}

function Loaded({ tlog, name }: { readonly tlog: string; readonly name: string }): JSX.Element {
  const { data, error, reload } = useAsk('tlogs.name.report.get', { params: { name: tlog } });
  if (data === null)
    return error === null ? (
      <Progress label={text.reading} value={null} />
    ) : (
      <ErrorNote error={error} onRetry={reload} />
    );
  return (
    <div role="group" aria-label={text.reportOf({ flight: name })}>
      <Findings findings={data.findings} />
      <dl class="stats">
        <Stat label={text.stats.duration} value={data.duration_s === null ? null : span(data.duration_s)} />
        <Figure label={text.stats.distance} value={data.distance_m} unit="m" />
        <Figure label={text.stats.height} value={data.max.height_m} unit="m" />
        <Figure label={text.stats.speed} value={data.max.speed_mps} unit="m/s" digits={1} />
        <Figure label={text.stats.away} value={data.max.distance_home_m} unit="m" />
        <Stat
          label={text.stats.battery}
          value={
            data.battery.start === null || data.battery.end === null
              ? null
              : text.volts({ start: number(data.battery.start, 1), end: number(data.battery.end, 1) })
          }
        />
        <Figure label={text.stats.satellites} value={data.gps.min_satellites} />
        <Figure label={text.stats.vibration} value={data.vibration.max} unit="m/s²" digits={1} />
      </dl>
      {data.modes.length === 0 ? null : (
        <p class="hint">
          {text.modesFlown}: {[...new Set(data.modes.map((mode) => mode.name))].join(', ')}
        </p>
      )}
    </div>
  );
}

function Findings({ findings }: { readonly findings: Report['findings'] }): JSX.Element {
  if (findings.length === 0)
    return (
      <p class={css['fine']}>
        <Icon of={CircleCheck} /> {text.noFindings}
      </p>
    );
  return (
    <ul class={css['findings']}>
      {findings.map((finding) => (
        <li key={`${finding.at_s ?? ''} ${finding.text}`} class={CLASSES[finding.severity]}>
          <Icon of={MARKS[finding.severity]} />
          <span>{finding.text}</span>
        </li>
      ))}
    </ul>
  );
}

function Figure({
  label,
  value,
  unit = '',
  digits = 0,
}: {
  readonly label: string;
  readonly value: number | null;
  readonly unit?: string;
  readonly digits?: number;
}): JSX.Element {
  return <Stat label={label} value={value === null ? null : number(value, digits)} unit={unit} />;
}
