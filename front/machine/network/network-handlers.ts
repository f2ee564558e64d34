import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { networkRows } from '../../../shared/routes/network.ts';
import type { MacRow } from '../../../shared/rpc/machine.ts';
import type { Hotspot } from './hotspot.ts';
import type { Modems } from './modem.ts';
import type { Network } from './network.ts';

interface NetworkHandlerDeps {
  readonly network: Network;
  readonly hotspot: Hotspot;
  readonly modems: Modems;
}

export function networkHandlers({
  network,
  hotspot,
  modems,
}: NetworkHandlerDeps): Omit<HandlersOf<typeof networkRows, 'front'>, MacRow> {
  return {
    'network.get': async () => network.state(),
    'network.client.status.get': async () => network.clientStatus(),
    'network.client.scan.get': async () => network.scan(),
    'network.client.configured.get': async () => network.configured(),
    'network.client.join.put': async ({ body }) => network.join(body),
    'network.client.delete': async () => network.leave(),
    'network.client.configured.name.delete': async ({ params }) => network.forget(params.name),
    'network.ethernet.put': async ({ body }) => network.ethernet(body),
    'network.hotspot.put': async ({ body }) => hotspot.set(body),
    'network.modem.get': async () => modems.state(),
    'network.modem.put': async ({ body }) => modems.set(body),
  };
}
