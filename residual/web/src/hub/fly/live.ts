import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type JsonObject, recordOf } from '../../../../../shared/member.ts';
import { follow } from '../event-stream.ts';
import { secondsSince } from '../fleet/fleet.ts';

/** What nodes say while they are looked at: the hub tells them that they are, and they speak more often (GET /v1/live). */

interface LiveTelemetry {
  readonly telemetry: JsonObject;
  /** By the hub's clock, ms since 1970. */
  readonly telemetry_at: number;
}
export interface Shown {
  /** Of the picture: an address of this page's own. */
  readonly url: string;
  /** By the hub's clock, ms since 1970. */
  readonly at: number;
}

export const told = signal<ReadonlyMap<string, LiveTelemetry>>(new Map());
/** Since the hub tells of those that are looked at: what it has not sent then is not there. */
export const isTelling = signal(false);
export const shown = signal<ReadonlyMap<string, Shown>>(new Map());

/** Older is not the present; the hub's clock is known to a second. */
export const LIVE_STALE_S = 4;
/** The hub says every 5 s that it is there. */
const SILENCE_MS = 12_000;

/** Looks at these nodes while the part that uses it is shown, and the page is. */
export function useLive(ids: readonly string[], telemetryHz: number, picturesHz: number): void {
  const nodes = ids.join();
  useEffect(() => {
    let stop: AbortController | null = null;
    const look = (): void => {
      const wanted = !document.hidden && nodes !== '';
      if (wanted === (stop !== null)) return;
      stop?.abort();
      stop = wanted ? new AbortController() : null;
      if (stop !== null) void followLive(nodes, telemetryHz, picturesHz, stop.signal);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      stop?.abort();
    };
  }, [nodes, telemetryHz, picturesHz]);
}

async function followLive(
  nodes: string,
  telemetryHz: number,
  picturesHz: number,
  stop: AbortSignal,
): Promise<void> {
  await follow({
    path: '/v1/live',
    query: { nodes, telemetry_hz: telemetryHz, pictures_hz: picturesHz },
    stop,
    silenceMs: SILENCE_MS,
    begin: () => ({
      take: (name, data) => {
        isTelling.value = true;
        const { id, at, jpeg, telemetry, telemetry_at: toldAt } = recordOf(data);
        if (typeof id !== 'string') return;
        if (name === 'telemetry' && typeof toldAt === 'number')
          told.value = new Map(told.value).set(id, { telemetry: recordOf(telemetry), telemetry_at: toldAt });
        else if (name === 'picture' && typeof jpeg === 'string' && typeof at === 'number') show(id, jpeg, at);
      },
    }),
  });
  isTelling.value = false;
  for (const id of nodes.split(',')) {
    const before = shown.value.get(id);
    if (before === undefined) continue;
    URL.revokeObjectURL(before.url);
    const rest = new Map(shown.value);
    rest.delete(id);
    shown.value = rest;
  }
}

/** @param jpeg base64 */
function show(id: string, jpeg: string, at: number): void {
  const bytes = Uint8Array.from(atob(jpeg), (char) => char.charCodeAt(0));
  const before = shown.value.get(id);
  const url = URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' }));
  shown.value = new Map(shown.value).set(id, { url, at });
  if (before !== undefined) URL.revokeObjectURL(before.url);
}

/** What the node says now; null where it says nothing, or has not for a while. */
export function liveOf(id: string): { readonly body: JsonObject | null; readonly age: number | null } {
  const found = told.value.get(id);
  const age = secondsSince(found?.telemetry_at);
  return { body: found !== undefined && age !== null && age <= LIVE_STALE_S ? found.telemetry : null, age };
}
