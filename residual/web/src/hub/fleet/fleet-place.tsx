import type { JSX } from 'preact';
import { type FleetNode, isLarge } from './fleet.ts';
import { FleetCard } from './fleet-card.tsx';
import { LargeMap } from './large-map.tsx';
import { SmallMap } from './small-map.tsx';

/** The map of the nodes that were found, with more of the one that was chosen there. @param nodes of a small fleet */
export function FleetPlace({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
  return (
    <>
      {isLarge.value === true ? <LargeMap /> : <SmallMap nodes={nodes} />}
      <FleetCard />
    </>
  );
}
