import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { LIMITS, PARAM } from './row-parts.ts';

const { later } = domain({
  lane: 'front',
  feature: 'network',
  profiles: 'DG',
  params: { iface: PARAM.iface, name: PARAM.wifiName },
});

export const networkRows = [
  later('network.get', 'GET /api/v1/network', 'key read ok -', 'interfaces, addresses, uplinks'),
  later(
    'network.client.status.get',
    'GET /api/v1/network/client/status',
    'key read ok -',
    'Wi-Fi client status',
  ),
  later('network.client.scan.get', 'GET /api/v1/network/client/scan', 'key read ok -', 'Wi-Fi scan'),
  later(
    'network.client.configured.get',
    'GET /api/v1/network/client/configured',
    'key read ok -',
    'saved Wi-Fi profiles, no secrets',
  ),
  later(
    'network.client.join.put',
    'PUT /api/v1/network/client/join',
    'key admin ok guard link',
    'join a Wi-Fi network',
    { limits: LIMITS.slow, bodyKind: 'json' },
  ),
  later(
    'network.client.delete',
    'DELETE /api/v1/network/client',
    'key admin ok guard link',
    'leave the Wi-Fi network',
  ),
  later(
    'network.client.configured.name.delete',
    'DELETE /api/v1/network/client/configured/{name}',
    'key admin ok - link',
    'forget a saved profile',
  ),
  later(
    'network.mac.adapters.get',
    'GET /api/v1/network/mac/adapters',
    'key read ok -',
    'adapters and their pin verdicts',
  ),
  later('network.mac.pin.post', 'POST /api/v1/network/mac/pin', 'key admin ok - link', 'pin a MAC', {
    bodyKind: 'json',
  }),
  later(
    'network.mac.iface.delete',
    'DELETE /api/v1/network/mac/{iface}',
    'key admin ok - link',
    'clear a MAC pin',
  ),
  later('network.ethernet.put', 'PUT /api/v1/network/ethernet', 'key admin ok guard link', 'wired address', {
    limits: LIMITS.slow,
    bodyKind: 'json',
  }),
  later(
    'network.hotspot.put',
    'PUT /api/v1/network/hotspot',
    'key admin ok guard link',
    'hotspot on or off',
    { limits: LIMITS.slow, bodyKind: 'json' },
  ),
] as const satisfies readonly Row[];
