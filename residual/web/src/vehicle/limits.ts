import { effect, signal } from '@preact/signals';
import type { BatteryState } from '../../../../shared/flight/battery-state.ts';
import { call, Refused } from '../api/client.ts';
import { entry, may } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import { steady } from '../api/steady.ts';
import { last } from '../api/telemetry.ts';
import { family, phase } from './vehicle-state.ts';

/** From where on a figure asks for attention: by the vehicle's own limits, and by these where it has none. */

export type Tone = '' | 'warn' | 'bad';

/** Percent below which a pilot should think of landing, and must. */
const LOW = 30;
const EMPTY = 15;
const MIN_SATELLITES = 6;
const FIX_3D = 3;

/** Voltages of ArduPilot, which tells of them only once a failsafe has begun; PX4 says by the state of the battery. 0: none. */
const VOLTS = ['BATT_LOW_VOLT', 'BATT_CRT_VOLT'] as const;
const limits = signal<readonly number[]>([]);

/** @param state as the vehicle says it by its own thresholds */
function stateTone(state: BatteryState | null | undefined): Tone {
  if (state === 'critical' || state === 'emergency' || state === 'failed') return 'bad';
  return state === 'low' || state === 'unhealthy' ? 'warn' : '';
}

const worse = (one: Tone, other: Tone): Tone =>
  one === 'bad' || other === 'bad' ? 'bad' : one === '' ? other : one;

/** Of the newest that it told, be it old. */
export const batteryTones = steady<{ readonly percent: Tone; readonly volts: Tone }>(() => {
  const { remaining, voltage, state } = last(({ battery }) => battery) ?? {};
  const said = stateTone(state);
  const [low = 0, critical = 0] = limits.value;
  // Only ArduPilot calls a battery well for which nobody has set a limit.
  const judges = state === 'ok' && family.value === 'px4';
  const percent =
    typeof remaining !== 'number' || judges ? '' : remaining < EMPTY ? 'bad' : remaining < LOW ? 'warn' : '';
  const volts = typeof voltage !== 'number' ? '' : voltage < critical ? 'bad' : voltage < low ? 'warn' : '';
  return { percent: worse(said, percent), volts: worse(said, volts) };
});

/** Of the receiver: whether it has a place at all, and enough satellites to trust it. */
export const gpsTone = steady<Tone>(() => {
  const { fix_type: fix, satellites } = last((body) => body.gps) ?? {};
  const hasFew = typeof satellites === 'number' && satellites < MIN_SATELLITES;
  if (typeof fix !== 'number' || fix >= FIX_3D) return hasFew ? 'warn' : '';
  return phase.value === 'flight' ? 'bad' : 'warn';
});

const isArdupilot = steady(() => family.value !== null && family.value !== 'px4');

// Asked anew before each flight: somebody may have set them.
effect(() => {
  void relayed.value;
  void phase.value;
  if (entry.value.state !== 'in' || !isArdupilot.value) {
    limits.value = [];
    return;
  }
  const stop = new AbortController();
  void ask(stop.signal);
  return () => stop.abort();
});

async function ask(stop: AbortSignal): Promise<void> {
  if (!may('params.name.get')) return;
  try {
    const params = VOLTS.map(async (name) => call('params.name.get', { params: { name }, signal: stop }));
    const answers = await Promise.all(params);
    if (!stop.aborted) limits.value = answers.map(({ value }) => value);
  } catch (error) {
    // Without a battery monitor it has none.
    if (!(error instanceof Refused) && !stop.aborted) throw error;
  }
}
