import type { JSX } from 'preact';
import { armed, fresh } from '../api/telemetry.ts';
import { Badge } from '../parts/parts.tsx';
import { t } from '../strings.ts';

/** The vehicle in a line, on every page: whether it is armed is nothing to look for. */
export function VehicleBar(): JSX.Element {
  const state = armed.value;
  if (state === null) return <Badge>{t.app.vehicle.none}</Badge>;
  if (state === 'unknown') return <Badge tone="bad">{t.app.vehicle.silent}</Badge>;
  const mode = fresh('heartbeat', (body) => body.mode);
  const battery = fresh('battery', (body) => body.battery.remaining);
  return (
    <span class="row">
      <Badge tone={state ? 'warn' : 'good'}>{state ? t.app.vehicle.armed : t.app.vehicle.disarmed}</Badge>
      {mode === null ? null : <span>{mode}</span>}
      {battery === null ? null : <span>{t.app.vehicle.battery(battery)}</span>}
    </span>
  );
}
