import { effect, signal } from '@preact/signals';
import type { NodeEntry } from '../../../../shared/fleet/hub-api.ts';
import type { NodeStatus } from '../../../../shared/fleet/told.ts';
import { span } from '../parts/format.ts';
import { credential, hubNow } from './client.ts';
import { follow } from './event-stream.ts';

/** The nodes as the hub tells of them, by one answer that goes on for as long as the page is open. */

export interface FleetNode {
  readonly entry: NodeEntry;
  /** What is looked through for a search, in small letters. */
  readonly words: string;
}

/** Null: not told yet. A new list at most four times a second, whatever comes in. */
export const nodes = signal<readonly FleetNode[] | null>(null);

const DRAW_MS = 250;
// A node that is online speaks every 10 s, and the hub itself more often.
const SILENCE_MS = 30_000;
/** A status comes at least every 10 s; what is older is not the present. */
export const STALE_S = 30;

let stopped: AbortController | null = null;

// Anew for whoever signs in; the last one's nodes are gone.
effect(() => {
  stopped?.abort();
  stopped = null;
  nodes.value = null;
  if (credential.value === null) return;
  stopped = new AbortController();
  void followNodes(stopped.signal);
});

async function followNodes(stop: AbortSignal): Promise<void> {
  await follow({
    path: '/v1/nodes/stream',
    stop,
    silenceMs: SILENCE_MS,
    begin: () => {
      // The first events are all nodes: what is not among them is gone.
      const held = new Map<string, FleetNode>();
      let complete = false;
      let drawing: ReturnType<typeof setTimeout> | undefined;
      const over = new AbortController();
      const draw = (): void => {
        drawing = undefined;
        if (complete && !stop.aborted && !document.hidden) nodes.value = [...held.values()];
      };
      document.addEventListener('visibilitychange', draw, { signal: over.signal });
      return {
        take: (name, data) => {
          complete = take(name, data as NodeEntry, held) || complete;
          drawing ??= setTimeout(draw, DRAW_MS);
        },
        end: () => {
          clearTimeout(drawing);
          over.abort();
        },
      };
    },
  });
}

/** @returns whether all nodes have been told now */
function take(name: string, data: NodeEntry, held: Map<string, FleetNode>): boolean {
  if (name === 'node') held.set(data.id, { entry: data, words: `${data.name}\n${data.id}`.toLowerCase() });
  else if (name === 'removed') held.delete(data.id);
  return name === 'ready';
}

/** What a person calls it. */
export function titleOf({ name, id }: NodeEntry): string {
  return name === '' ? id : name;
}

/** Seconds since the hub received something, by its own clock; null: never. */
export function secondsSince(at: number | null | undefined): number | null {
  return at === null || at === undefined ? null : Math.max(0, (hubNow() - at) / 1000);
}

/** An age in words, never less than it is. */
export function ageText(seconds: number | null): string {
  if (seconds === null) return span(null);
  const unit = seconds < 90 ? 1 : seconds < 5400 ? 60 : seconds < 172_800 ? 3600 : 86_400;
  return span(Math.ceil(seconds / unit) * unit);
}

/** The newest status as a list shows it, and how old it is. What the node did not say, or not in the form agreed, is null. */
export interface Figures {
  /** s since it was told; null: no status, or since when is not known. */
  readonly told: number | null;
  /** Told of lately by a node that is online. */
  readonly present: boolean;
  /** s since the vehicle was heard, for what is the vehicle's: mode, battery, place, height. */
  readonly age: number | null;
  readonly fresh: boolean;
  readonly armed: boolean | 'unknown' | null;
  readonly connected: boolean | null;
  readonly mode: string | null;
  readonly battery: number | null;
  readonly place: { readonly lat: number; readonly lon: number; readonly heading: number | null } | null;
  readonly height: number | null;
  readonly behind: number | null;
}

export function figuresOf({ status, status_at: at, online }: NodeEntry): Figures {
  const said = (status ?? {}) as Partial<NodeStatus>;
  const { lat, lon, heading, relative_alt_m: height } = said.position ?? {};
  const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
  const told = status === null ? null : secondsSince(at);
  const { fc_heartbeat_age_s: silence } = said;
  const age = told === null ? null : told + (isNumber(silence) ? silence : 0);
  const isPresent = (seconds: number | null): boolean => online && seconds !== null && seconds <= STALE_S;
  return {
    told,
    present: isPresent(told),
    age,
    fresh: isPresent(age),
    armed: typeof said.armed === 'boolean' || said.armed === 'unknown' ? said.armed : null,
    connected: typeof said.fc_connected === 'boolean' ? said.fc_connected : null,
    mode: typeof said.mode === 'string' ? said.mode : null,
    battery: isNumber(said.battery_percent) ? said.battery_percent : null,
    place: isNumber(lat) && isNumber(lon) ? { lat, lon, heading: isNumber(heading) ? heading : null } : null,
    height: isNumber(height) ? height : null,
    behind: isNumber(said.events_behind) ? said.events_behind : null,
  };
}
