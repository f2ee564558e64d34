import { useEffect, useMemo, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { GROUP } from '../../../../../shared/fleet/node-labels.ts';
import { Refused } from '../../api/client.ts';
import { ask } from '../client.ts';
import { type FleetNode, fleetNode, isLarge, nodes } from './fleet.ts';
import { type FleetFilter, selected } from './selection.ts';

/** The nodes that fit, in the order that was chosen: found here in a small fleet, by the hub in a large one. */

interface FoundNodes {
  /** As far as they are there. */
  readonly nodes: readonly FleetNode[];
  readonly total: number;
  /** Asks for the next ones; null: there are none, or no more are shown. */
  readonly more: (() => void) | null;
}

interface Page {
  readonly nodes: readonly NodeEntry[];
  readonly total: number;
  readonly next: string | null;
}

const PAGE = 100;
/** Whoever wants to see others looks for them. */
const MOST = 1000;
/** Their order changes while they fly. */
const AGAIN_MS = 10_000;
/** Somebody types. */
const SETTLE_MS = 250;

type Query = Readonly<Record<string, string | number | null>>;

/** As the hub is asked for them; what is not asked for is null. */
export function queryOf({ search, state, label }: Omit<FleetFilter, 'order'>): Query {
  const isGroup = label?.startsWith(GROUP) === true;
  return {
    q: search.trim() === '' ? null : search.trim(),
    state: state === 'all' ? null : state,
    tag: isGroup ? null : label,
    group: isGroup ? label.slice(GROUP.length) : null,
  };
}

/** @returns null: not told yet */
export function useFound(wanted: FleetFilter): FoundNodes | null {
  const all = nodes.value;
  const large = isLarge.value;
  const here = useMemo(
    () => (all === null || large !== false ? [] : selected(all, wanted)),
    [all, wanted, large],
  );
  const there = usePages(wanted, large === true);
  const live = useMemo(() => new Map(all?.map((node) => [node.entry.id, node])), [all]);
  if (large === null) return null;
  if (!large) return all === null ? null : { nodes: here, total: here.length, more: null };
  return there === null
    ? null
    : { ...there, nodes: there.nodes.map((node) => live.get(node.entry.id) ?? node) };
}

function usePages({ order, ...wanted }: FleetFilter, isOn: boolean): FoundNodes | null {
  const [length, setLength] = useState(PAGE);
  const [found, setFound] = useState<Omit<FoundNodes, 'more'> | null>(null);
  const query = { ...queryOf(wanted), order };
  const key = JSON.stringify(query);
  useEffect(() => setLength(PAGE), [key]);
  useEffect(() => {
    if (!isOn) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const page = await ask<Page>('/v1/nodes', {
            query: { ...query, limit: length },
            signal: stopped.signal,
          });
          if (!stopped.signal.aborted) setFound({ nodes: page.nodes.map(fleetNode), total: page.total });
        } catch (error) {
          if (stopped.signal.aborted) return;
          if (!(error instanceof Refused)) throw error;
        }
      }
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(), AGAIN_MS);
    };
    timer = setTimeout(() => void look(), found === null ? 0 : SETTLE_MS);
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }, [key, length, isOn]);
  if (found === null) return null;
  const isMore = found.nodes.length >= length && found.total > length && length < MOST;
  return { ...found, more: isMore ? () => setLength(found.nodes.length + PAGE) : null };
}
