import type { JSX } from 'preact';
import { steady } from '../../api/steady.ts';
import { armed, fresh, isAwaited } from '../../api/telemetry.ts';
import { t } from '../../strings.ts';
import { isSilent, phase } from '../../vehicle/vehicle-state.ts';

const state = steady(() => {
  if (isAwaited.value) return '';
  if (armed.value === null) return t.fly.noVehicle;
  if (isSilent.value) return t.fly.linkLost;
  const mode = fresh('heartbeat', (body) => body.mode);
  const words = {
    disarmed: t.app.vehicle.disarmed,
    armed: t.app.vehicle.armed,
    flight: t.app.vehicle.flying,
  }[phase.value];
  return mode === null ? words : `${words}, ${mode}`;
});

/** Tells whoever does not see the page what has changed: armed, mode, link. Messages and warnings are a log of their own. */
export function Announcer(): JSX.Element {
  return (
    <p class="visually-hidden" role="status">
      {state.value}
    </p>
  );
}
