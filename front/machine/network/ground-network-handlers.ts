import type { groundStationRows } from '../../../shared/routes/ground-station.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { Hotspot } from './hotspot.ts';
import type { Mesh } from './mesh.ts';
import type { Network } from './network.ts';

interface GroundNetworkDeps {
  readonly network: Network;
  readonly hotspot: Hotspot;
  readonly mesh: Mesh;
}

type GroundHandlers = HandlersOf<typeof groundStationRows, 'front'>;
type GroundNetworkHandlers = Pick<
  GroundHandlers,
  Extract<keyof GroundHandlers, `ground-station.network.${string}` | `ground-station.mesh.${string}`>
>;

/** The network and the mesh of a ground station. */
export function groundNetworkHandlers({ network, hotspot, mesh }: GroundNetworkDeps): GroundNetworkHandlers {
  return {
    'ground-station.network.get': async () => network.ground(),
    'ground-station.network.ap.put': async ({ body }) => hotspot.set(body),
    'ground-station.network.share-uplink.put': async ({ body: { enabled } }) => ({
      enabled,
      applied: await hotspot.share(enabled),
    }),
    'ground-station.network.priority.put': async ({ body }) => network.prioritise(body.priority),
    'ground-station.mesh.get': async () => mesh.state(),
    'ground-station.mesh.neighbors.get': async () => ({ neighbors: await mesh.neighbors() }),
    'ground-station.mesh.routes.get': async () => ({ routes: await mesh.routes() }),
    'ground-station.mesh.gateways.get': async () => mesh.gateways(),
    'ground-station.mesh.config.get': async () => mesh.config(null),
    // Without the `force` of the armed guard.
    'ground-station.mesh.config.put': async ({ body: { mesh_id, carrier, channel } }) =>
      mesh.config({
        ...(mesh_id === undefined ? {} : { mesh_id }),
        ...(carrier === undefined ? {} : { carrier }),
        ...(channel === undefined ? {} : { channel }),
      }),
  };
}
