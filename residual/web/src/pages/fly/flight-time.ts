import { computed, effect, signal } from '@preact/signals';
import { call, Refused } from '../../api/client.ts';
import { flyingSince } from '../../api/flight.ts';
import { may } from '../../api/node.ts';
import { now } from '../../api/presence.ts';
import { relayed } from '../../api/relay.ts';
import { newest } from '../../api/telemetry.ts';
import { phase } from '../../vehicle/vehicle-state.ts';

/** How long it flies: since it was armed, as the node's own flight session has it, also when the page was opened in the air. */

const AGAIN_MS = 2000;
const TRIES = 5;

/** ms of `performance.now()` when the flight under way began; null: not known. */
const began = signal<number | null>(null);

interface FlightTime {
  readonly seconds: number;
  /** Only as long as this page has seen it fly: the node did not tell. */
  readonly isSeen: boolean;
}

/** Null: it does not fly, or nobody knows since when. */
export const flightTime = computed<FlightTime | null>(() => {
  if (phase.value === 'disarmed') return null;
  const since = began.value ?? flyingSince.value;
  return since === null
    ? null
    : { seconds: Math.max(0, Math.floor((now.value - since) / 1000)), isSeen: began.value === null };
});

/** Asks the node whenever the vehicle was armed, while it is shown. @returns ends it */
export function followFlightTime(): () => void {
  const isArmed = computed(() => phase.value !== 'disarmed');
  return effect(() => {
    void relayed.value;
    began.value = null;
    if (!isArmed.value) return;
    const stopper = new AbortController();
    void ask(stopper.signal);
    return () => stopper.abort();
  });
}

/** A session begins a moment after the vehicle has said that it is armed. */
async function ask(stop: AbortSignal): Promise<void> {
  for (let tries = 0; tries < TRIES && !stop.aborted && may('observability.sessions.get'); tries++) {
    try {
      const { data } = await call('observability.sessions.get', {
        query: { kind: 'flight', limit: 1 },
        signal: stop,
      });
      const session = data[0];
      const nodeNow = clockOfNode();
      if (session !== undefined && session.ended_us === null && nodeNow !== null) {
        if (!stop.aborted) began.value = performance.now() - Math.max(0, nodeNow - session.started_us / 1000);
        return;
      }
    } catch (error) {
      if (!(error instanceof Refused) && !stop.aborted) throw error; // what the page itself has seen stands
      if (stop.aborted) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** The node's clock may be far from this browser's. Unix ms; null: it has told no time. */
function clockOfNode(): number | null {
  const { last_heartbeat: last, heartbeat_age_s: age } = newest.peek() ?? {};
  const at = typeof last === 'string' ? Date.parse(last) : Number.NaN;
  return Number.isNaN(at) ? null : at + (age ?? 0) * 1000;
}

/** Minutes and seconds, as a stopwatch has them. */
export function stopwatch(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(Math.floor(seconds) % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}
