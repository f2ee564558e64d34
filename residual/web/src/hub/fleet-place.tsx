import type { JSX } from 'preact';
import type { FleetNode } from './fleet.ts';
import { FleetCard } from './fleet-card.tsx';
import { FleetMap } from './fleet-map.tsx';

/** The map of these nodes, with more of the one that was chosen there. */
export function FleetPlace({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
  return (
    <>
      <FleetMap nodes={nodes} />
      <FleetCard />
    </>
  );
}
