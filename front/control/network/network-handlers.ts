import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { networkRows } from '../../../shared/routes/network.ts';
import type { Hotspot } from './hotspot.ts';
import type { MacPins } from './mac.ts';
import type { Modems } from './modem.ts';
import type { Network } from './network.ts';

interface NetworkHandlerDeps {
  readonly network: Network;
  readonly hotspot: Hotspot;
  readonly macPins: MacPins;
  readonly modems: Modems;
}

export function networkHandlers({
  network,
  hotspot,
  macPins,
  modems,
}: NetworkHandlerDeps): HandlersOf<typeof networkRows, 'front'> {
  return {
    'network.get': async () => network.state(),
    'network.client.status.get': async () => network.clientStatus(),
    'network.client.scan.get': async () => network.scan(),
    'network.client.configured.get': async () => network.configured(),
    'network.client.join.put': async ({ body }) => network.join(body),
    'network.client.delete': async () => network.leave(),
    'network.client.configured.name.delete': async ({ params }) => network.forget(params.name),
    'network.mac.adapters.get': async () => ({ adapters: await macPins.adapters() }),
    'network.mac.pin.post': async ({ body: { iface, mac } }) => ({
      iface,
      ...(await macPins.pin(iface, mac)),
    }),
    'network.mac.iface.delete': async ({ params: { iface } }) => ({
      iface,
      removed: await macPins.unpin(iface),
    }),
    'network.ethernet.put': async ({ body }) => network.ethernet(body),
    'network.hotspot.put': async ({ body }) => hotspot.set(body),
    'network.modem.get': async () => modems.state(),
    'network.modem.put': async ({ body }) => modems.set(body),
  };
}
