import { BatteryFull, BatteryLow, BatteryMedium, BatteryWarning, type IconNode, Satellite } from 'lucide';
import type { JSX } from 'preact';
import { steady } from '../api/steady.ts';
import { armed, flight, isAwaited, last, oldness } from '../api/telemetry.ts';
import { Icon } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { batteryTones, gpsTone } from './limits.ts';

// What is rendered is what has changed: the vehicle tells ten times a second. The last stays, pale, when no more comes.
const mode = steady(() => last((body) => body.mode));
const charge = steady(() => last((body) => body.battery.remaining));
const satellites = steady(() => last((body) => body.gps.satellites));
const isOld = {
  mode: steady(() => oldness('heartbeat') !== null),
  battery: steady(() => oldness('battery') !== null),
  gps: steady(() => oldness('gps') !== null),
};
const old = (which: keyof typeof isOld): string => (isOld[which].value ? 'old' : '');

/** The vehicle in a line, on every page: whether it is armed is nothing to look for. */
export function VehicleBar(): JSX.Element {
  const state = armed.value;
  if (state === null)
    return <State tone="no-vehicle">{isAwaited.value ? t.app.loading : t.app.vehicle.none}</State>;
  const isSilent = state === 'unknown';
  const isFlying = flight.value === 'in_air';
  return (
    <div class="vehicle-bar" role="group" aria-label={t.app.vehicle.label}>
      <strong class={`state ${isSilent ? 'bad' : isFlying ? 'flying' : state ? 'warn' : 'good'}`}>
        {isSilent
          ? t.app.vehicle.silent
          : isFlying
            ? t.app.vehicle.flying
            : state
              ? t.app.vehicle.armed
              : t.app.vehicle.disarmed}
      </strong>
      {mode.value === null ? null : (
        <span class={`mode ${old('mode')}`} title={t.app.vehicle.mode}>
          {mode.value}
        </span>
      )}
      <Battery />
      <Satellites />
    </div>
  );
}

function State({ tone, children }: { readonly tone: string; readonly children: string }): JSX.Element {
  return (
    <div class="vehicle-bar" role="group" aria-label={t.app.vehicle.label}>
      <strong class={`state ${tone}`}>{children}</strong>
    </div>
  );
}

function Battery(): JSX.Element | null {
  const percent = charge.value;
  if (percent === null) return null;
  const tones = batteryTones.value;
  const tone = tones.volts === 'bad' ? tones.volts : tones.percent;
  const [icon, look]: readonly [IconNode, string] =
    tone === 'bad'
      ? [BatteryWarning, tone]
      : tone === 'warn'
        ? [BatteryLow, tone]
        : percent < 70
          ? [BatteryMedium, '']
          : [BatteryFull, ''];
  return (
    <span class={`pill ${look} ${old('battery')}`} title={t.app.vehicle.batteryLabel}>
      <Icon of={icon} />
      <span class="visually-hidden">{t.app.vehicle.batteryLabel}</span>
      {t.app.vehicle.battery({ percent })}
    </span>
  );
}

function Satellites(): JSX.Element | null {
  const count = satellites.value;
  if (count === null) return null;
  return (
    <span class={`pill wide-only ${gpsTone.value} ${old('gps')}`} title={t.app.vehicle.satellites}>
      <Icon of={Satellite} />
      <span class="visually-hidden">{t.app.vehicle.satellites}</span>
      {count}
    </span>
  );
}
