import { ClipboardCheck } from 'lucide';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import type { Answer } from '../../../api/rows.ts';
import { number } from '../../../parts/format.ts';
import { Asked, Stat, Unfold } from '../../../parts/parts.tsx';
import { usePolled } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { elapsed } from '../viewer/times.ts';
import { Findings } from './findings.tsx';
import css from './logs.module.css';
import { TrackPicture } from './track-picture.tsx';

type Report = Answer<'tlogs.name.report.get'>;

const text = t.vehicle.plots;

/**
 * What happened in a flight, worked out by the node once its card is in sight: it reads the whole log for it. The figures that one looks
 * for are there at once, with the way; the others behind their name.
 * @param length of the flight, as it is said everywhere; null: it goes on
 */
export function FlightReport({
  tlog,
  name,
  length,
}: {
  readonly tlog: string;
  readonly name: string;
  readonly length: string | null;
}): JSX.Element | null {
  const [box, isSeen] = useSeen();
  const asked = usePolled(
    tlog,
    isSeen && length !== null && may('tlogs.name.report.get')
      ? async (signal) => call('tlogs.name.report.get', { params: { name: tlog }, signal })
      : null,
    null,
  );
  if (length === null || !may('tlogs.name.report.get')) return null;
  return (
    <div ref={box}>
      <Asked of={asked}>
        {(report) => (
          <>
            <div class={css['figures']}>
              <dl class="stats">
                <Stat label={text.stats.duration} value={length} />
                <Figure label={text.stats.distance} value={report.distance_m} unit="m" />
                <Figure label={text.stats.height} value={report.max.height_m} unit="m" />
                <Figure label={text.stats.lowest} value={report.battery.min} unit="V" digits={1} />
                <Figure label={text.stats.used} value={report.battery.used_mah} unit="mAh" />
              </dl>
              <TrackPicture label={text.trackOf({ flight: name })} track={report.track} />
            </div>
            <Unfold title={text.report} icon={ClipboardCheck}>
              <Details report={report} name={name} />
            </Unfold>
          </>
        )}
      </Asked>
    </div>
  );
}

/** Whether it has been in sight. */
function useSeen(): readonly [RefObject<HTMLDivElement | null>, boolean] {
  const box = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || box.current === null) return undefined;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [isSeen]);
  return [box, isSeen];
}

function Details({ report, name }: { readonly report: Report; readonly name: string }): JSX.Element {
  const { battery, modes, events } = report;
  const flights = events.filter(({ kind }) => kind === 'armed').length;
  return (
    <div role="group" aria-label={text.reportOf({ flight: name })}>
      {flights > 1 ? <p class="hint">{text.several({ count: flights })}</p> : null}
      <Findings findings={report.findings} />
      <dl class="stats">
        <Stat
          label={text.stats.battery}
          value={
            battery.start === null || battery.end === null
              ? null
              : text.volts({ start: number(battery.start, 1), end: number(battery.end, 1) })
          }
        />
        <Stat
          label={text.stats.lowest}
          value={
            battery.min === null || battery.min_at_s === null
              ? null
              : text.lowestAt({ volts: number(battery.min, 2), time: elapsed(battery.min_at_s, 1) })
          }
        />
        <Figure label={text.stats.speed} value={report.max.speed_mps} unit="m/s" digits={1} />
        <Figure label={text.stats.away} value={report.max.distance_home_m} unit="m" />
        <Figure label={text.stats.satellites} value={report.gps.min_satellites} />
        <Figure label={text.stats.vibration} value={report.vibration.max} unit="m/s²" digits={1} />
      </dl>
      {modes.length === 0 ? null : (
        <p class="hint">
          {text.modesFlown}: {[...new Set(modes.map((mode) => mode.name))].join(', ')}
        </p>
      )}
    </div>
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
