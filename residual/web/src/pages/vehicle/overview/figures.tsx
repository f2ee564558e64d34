import { Activity, BatteryMedium, Fan, Satellite } from 'lucide';
import type { JSX } from 'preact';
import { fresh, last } from '../../../api/telemetry.ts';
import { wordFor } from '../../../language/words.ts';
import { number } from '../../../parts/format.ts';
import { Card, Meter, Sparkline, Stat } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { batteryTones, gpsTone } from '../../../vehicle/limits.ts';
import { Unheard } from '../../../vehicle/unheard.tsx';
import { agoText, family } from '../../../vehicle/vehicle-state.ts';
import css from './condition.module.css';
import { useCourse } from './course.ts';

const text = t.vehicle.overview;
/** m/s²: https://ardupilot.org/copter/docs/common-measuring-vibration.html */
const VIBRATION = { warn: 30, bad: 60 } as const;
/** Of a variance of 1 and above the vehicle no longer trusts that sensor. */
const VARIANCE = { warn: 0.8, bad: 1 } as const;
const GOOD_SATELLITES = 12;

export function BatteryCard(): JSX.Element {
  const battery = last((now) => now.battery);
  const old = agoText('battery');
  const course = useCourse(old === null ? (battery?.voltage ?? null) : null);
  const part = battery?.remaining ?? null;
  const tones = batteryTones.value;
  const cells = battery?.cell_voltages ?? null;
  const least = cells === null || cells.length === 0 ? null : Math.min(...cells);
  return (
    <Card title={text.battery} icon={BatteryMedium}>
      <Meter
        label={text.charge}
        text={`${number(part)} % ${old ?? ''}`}
        part={part === null ? null : part / 100}
        tone={old === null && tones.percent !== '' ? tones.percent : undefined}
      />
      <dl class="stats">
        <Stat label={text.voltage} value={shown(battery?.voltage, 2)} unit="V" tone={tones.volts} old={old} />
        <Stat label={text.current} value={shown(battery?.current, 1)} unit="A" old={old} />
        {least === null ? null : <Stat label={text.lowestCell} value={number(least, 2)} unit="V" old={old} />}
        {battery?.temperature == null ? null : (
          <Stat label={text.temperature} value={number(battery.temperature)} unit="°C" old={old} />
        )}
      </dl>
      <Course label={text.courseOf({ name: text.voltage })} values={course} />
    </Card>
  );
}

export function PositionCard(): JSX.Element {
  const gps = last((now) => now.gps);
  const old = agoText('gps');
  const ekf = fresh('ekf', (now) => now.ekf);
  const satellites = gps?.satellites ?? null;
  const fix = gps?.fix_type ?? null;
  const course = useCourse(old === null ? satellites : null);
  return (
    <Card title={text.position} icon={Satellite}>
      <dl class="stats">
        <Stat
          label={text.gpsFix}
          value={fix === null ? null : (t.fly.fix[fix] ?? String(fix))}
          tone={gpsTone.value}
          old={old}
        />
        <Stat label={t.app.vehicle.satellites} value={shown(satellites, 0)} old={old} />
        <Stat label={text.hdop} value={shown(gps?.eph, 2)} old={old} />
      </dl>
      <Course
        label={text.courseOf({ name: t.app.vehicle.satellites })}
        values={course}
        low={0}
        high={GOOD_SATELLITES}
      />
      <h3>{text.estimate}</h3>
      {Object.entries(ekf?.variances ?? {}).flatMap(([name, value]) =>
        typeof value !== 'number'
          ? []
          : [
              <Meter
                key={name}
                label={wordFor(text.variances, name) ?? name}
                text={number(value, 2)}
                part={value}
                tone={toneOf(value, VARIANCE)}
              />,
            ],
      )}
      {ekf === null ? (
        <Unheard text={family.value === null ? text.notHeard : text.noEstimate} />
      ) : (
        <p class="hint">{t.vehicle.setup.varianceHint}</p>
      )}
    </Card>
  );
}

export function VibrationCard(): JSX.Element {
  const vibration = fresh('vibration', (now) => now.vibration);
  const axes = [vibration?.x, vibration?.y, vibration?.z].filter((axis) => typeof axis === 'number');
  const worst = axes.length > 0 ? Math.max(...axes) : null;
  const course = useCourse(worst);
  const clips = vibration?.clips;
  return (
    <Card title={text.vibration} icon={Activity}>
      {(['x', 'y', 'z'] as const).map((axis) => (
        <Meter
          key={axis}
          label={text.axis({ name: axis.toUpperCase() })}
          text={`${number(vibration?.[axis], 1)} m/s²`}
          part={typeof vibration?.[axis] === 'number' ? vibration[axis] / VIBRATION.bad : null}
          tone={typeof vibration?.[axis] === 'number' ? toneOf(vibration[axis], VIBRATION) : undefined}
        />
      ))}
      <Course label={text.courseOf({ name: text.vibration })} values={course} low={0} high={VIBRATION.bad} />
      {clips == null ? null : (
        <p class="hint">
          {clips.some((count) => count > 0) ? text.clipped({ counts: clips.join(', ') }) : text.noClips}
        </p>
      )}
    </Card>
  );
}

/** Nothing where no speed controller has said anything. */
export function EscCard(): JSX.Element | null {
  const escs = fresh('esc', (now) => now.esc);
  if (escs === null) return null;
  const most = Math.max(1000, ...escs.map(({ rpm }) => rpm ?? 0));
  return (
    <Card title={text.motors} icon={Fan}>
      {escs.map(({ number: which, rpm, current, temperature }) => (
        <Meter
          key={which}
          label={text.motor({ number: which })}
          text={[`${number(rpm)} rpm`, ...some(current, 'A', 1), ...some(temperature, '°C', 0)].join(' · ')}
          part={rpm === null ? null : rpm / most}
        />
      ))}
    </Card>
  );
}

/** The last two minutes, for the eyes; the words beside it say the newest. */
function Course({
  label,
  values,
  low,
  high,
}: {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly low?: number;
  readonly high?: number;
}): JSX.Element | null {
  if (values.filter((value) => value !== null).length < 2) return null;
  return (
    <figure class={css['course']}>
      <Sparkline
        values={values}
        {...(low === undefined ? {} : { low })}
        {...(high === undefined ? {} : { high })}
      />
      <figcaption class="hint">{label}</figcaption>
    </figure>
  );
}

function shown(value: number | null | undefined, digits: number): string | null {
  return typeof value === 'number' ? number(value, digits) : null;
}

function some(value: number | null, unit: string, digits: number): readonly string[] {
  return value === null ? [] : [`${number(value, digits)} ${unit}`];
}

function toneOf(
  value: number,
  limits: { readonly warn: number; readonly bad: number },
): 'warn' | 'bad' | undefined {
  return value >= limits.bad ? 'bad' : value >= limits.warn ? 'warn' : undefined;
}
