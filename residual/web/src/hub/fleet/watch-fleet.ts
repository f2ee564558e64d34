import { computed, effect, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { Refused } from '../../api/client.ts';
import { now as clock } from '../../api/presence.ts';
import { ask, credential } from '../client.ts';
import { follow } from '../event-stream.ts';
import type { Counts } from './counts.ts';
import { type FleetNode, fleetNode, isLarge, nodes } from './fleet.ts';
import { countsOf } from './state.ts';

/**
 * What the hub tells of the fleet for as long as the page is open. A small one is told as a whole, and the page finds, orders and
 * counts in it by itself. Of a large one the hub finds, orders and counts, and tells of those that are looked at.
 */

/** A fleet of more is large; one that is large stays so until it is clearly smaller. */
const SMALL = 1000;
const SMALL_AGAIN = 800;
const DRAW_MS = 250;
// A node that is online speaks every 10 s, and the hub itself more often.
const SILENCE_MS = 30_000;
/** How often a large fleet is counted, and a small one asked whether it still is. */
const COUNT_MS = { large: 3000, small: 30_000, unknown: 1000 } as const;
/** Of one stream of the hub. */
const MOST_LOOKED_AT = 200;
/** A list that is scrolled changes often what is looked at. */
const SETTLE_MS = 200;

/** Of a large fleet. */
const told = signal<Counts | null>(null);
/** Ids of which the hub has told what it knows. */
const toldOf = signal<ReadonlySet<string>>(new Set());
/** By whoever looks at them. */
const looked = signal<ReadonlyMap<symbol, readonly string[]>>(new Map());
const lookedAt = computed(() =>
  [...new Set([...looked.value.values()].flat())].slice(0, MOST_LOOKED_AT).toSorted().join(','),
);

/** Runs while the signals say so; what it began ends before it runs anew. */
function running(work: () => ((stop: AbortSignal) => Promise<void>) | null): void {
  let stopped: AbortController | null = null;
  effect(() => {
    stopped?.abort();
    stopped = null;
    const begin = work();
    if (begin === null) return;
    stopped = new AbortController();
    void begin(stopped.signal);
  });
}

/** Begun once, by the page. */
export function watchFleet(): void {
  // Anew for whoever signs in; the last one's nodes are gone.
  running(() => {
    isLarge.value = null;
    told.value = null;
    nodes.value = null;
    return credential.value === null ? null : count;
  });
  running(() => (isLarge.value === false ? followAll : null));
  running(() => {
    if (isLarge.value !== true) return null;
    const ids = lookedAt.value;
    return async (stop) => followSome(ids, stop);
  });
}

async function count(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      if (!document.hidden || isLarge.peek() === null) {
        const counts = await ask<Counts>('/v1/fleet', { signal: stop });
        if (stop.aborted) return;
        told.value = counts;
        isLarge.value = counts.nodes > (isLarge.peek() === true ? SMALL_AGAIN : SMALL);
      }
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401 || error.status === 403) return;
    }
    const known = isLarge.peek();
    await pause(COUNT_MS[known === null ? 'unknown' : known ? 'large' : 'small'], stop);
  }
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function followAll(stop: AbortSignal): Promise<void> {
  nodes.value = null;
  await followStream({}, new Map(), stop, () => undefined);
}

async function followSome(ids: string, stop: AbortSignal): Promise<void> {
  const wanted = new Set(ids.split(',').filter((id) => id !== ''));
  const held = (nodes.peek() ?? []).filter(({ entry }) => wanted.has(entry.id));
  nodes.value = held;
  await pause(SETTLE_MS, stop);
  if (wanted.size === 0 || stop.aborted) return;
  const before = new Map(held.map((node) => [node.entry.id, node]));
  await followStream({ nodes: ids }, before, stop, () => (toldOf.value = wanted));
}

/** @param before what was told already, and counts until the stream has told it anew */
async function followStream(
  query: { readonly nodes?: string },
  before: ReadonlyMap<string, FleetNode>,
  stop: AbortSignal,
  onReady: () => void,
): Promise<void> {
  await follow({
    path: '/v1/nodes/stream',
    query,
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
        if (stop.aborted || document.hidden) return;
        if (complete) {
          nodes.value = [...held.values()];
          onReady();
        } else if (before.size > 0) nodes.value = [...new Map([...before, ...held]).values()];
      };
      document.addEventListener('visibilitychange', draw, { signal: over.signal });
      return {
        take: (name, data) => {
          const entry = data as NodeEntry;
          if (name === 'node') held.set(entry.id, fleetNode(entry));
          else if (name === 'removed') held.delete(entry.id);
          else if (name === 'ready') complete = true;
          if (query.nodes === undefined && held.size > SMALL) isLarge.value = true; // it has grown meanwhile
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

/** While it is shown, the hub tells of these. In a small fleet it does anyway. */
export function useLooked(ids: readonly string[]): void {
  const [who] = useState(() => Symbol('looks'));
  useEffect(() => {
    looked.value = new Map([...looked.peek(), [who, ids]]);
  }, [ids.join(',')]);
  useEffect(
    () => () => {
      looked.value = new Map([...looked.peek()].filter(([each]) => each !== who));
    },
    [],
  );
}

/** Whether the hub has told of a node what it knows: one that is not among `nodes` then is none. */
export function isTold(id: string): boolean {
  return isLarge.value === true ? toldOf.value.has(id) : nodes.value !== null;
}

/** Of all nodes that one sees; null: not told yet. */
export function countsNow(): Counts | null {
  if (isLarge.value === true) return told.value;
  void clock.value; // what is of now becomes old by itself
  return nodes.value === null ? null : countsOf(nodes.value);
}
