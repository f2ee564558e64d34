import { BatteryFull, BatteryLow, BatteryMedium, BatteryWarning, type IconNode, Satellite } from 'lucide';
import type { JSX } from 'preact';
import { steady } from '../api/steady.ts';
import { armed, flight, fresh, isAwaited } from '../api/telemetry.ts';
import { Icon } from '../parts/parts.tsx';
import { t } from '../strings.ts';

// Percent below which a pilot should think of landing, and must.
const LOW = 30;
const EMPTY = 15;
const MIN_SATELLITES = 6;

// What is rendered is what has changed: the vehicle tells ten times a second.
const mode = steady(() => fresh('heartbeat', (body) => body.mode));
const charge = steady(() => fresh('battery', (body) => body.battery.remaining));
const satellites = steady(() => fresh('gps', (body) => body.gps.satellites));

/** The vehicle in a line, on every page: whether it is armed is nothing to look for. */
export function VehicleBar(): JSX.Element {
  const state = armed.value;
  if (state === null)
    return <State tone="no-vehicle">{isAwaited.value ? t.app.loading : t.app.vehicle.none}</State>;
  if (state === 'unknown') return <State tone="bad">{t.app.vehicle.silent}</State>;
  const isFlying = flight.value === 'in_air';
  return (
    <div class="vehicle-bar" role="group" aria-label={t.app.vehicle.label}>
      <strong class={`state ${state ? 'warn' : 'good'}`}>
        {isFlying ? t.app.vehicle.flying : state ? t.app.vehicle.armed : t.app.vehicle.disarmed}
      </strong>
      {mode.value === null ? null : (
        <span class="mode" title={t.app.vehicle.mode}>
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
  const [icon, tone]: readonly [IconNode, string] =
    percent < EMPTY
      ? [BatteryWarning, 'bad']
      : percent < LOW
        ? [BatteryLow, 'warn']
        : percent < 70
          ? [BatteryMedium, '']
          : [BatteryFull, ''];
  return (
    <span class={`pill ${tone}`} title={t.app.vehicle.batteryLabel}>
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
    <span class={`pill wide-only ${count < MIN_SATELLITES ? 'warn' : ''}`} title={t.app.vehicle.satellites}>
      <Icon of={Satellite} />
      <span class="visually-hidden">{t.app.vehicle.satellites}</span>
      {count}
    </span>
  );
}
