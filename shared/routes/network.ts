import { modem, modemRequest, modems } from '../schemas/modem.ts';
import * as network from '../schemas/network.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'front',
  feature: 'network',
  profiles: 'DG',
  params: { iface: PARAM.iface, name: PARAM.wifiName },
});

/** NetworkManager refuses, is not running, or does not answer. */
const READ_FAILS = ['E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'] as const;
const CHANGE_FAILS = [...READ_FAILS, 'E_BUSY', 'E_INVALID_VALUE', 'E_STORE'] as const;

export const networkRows = [
  row('network.get', 'GET /api/v1/network', 'key read ok -', 'interfaces, addresses, uplinks', {
    fails: READ_FAILS,
    responses: json('as NetworkManager reports it', network.networkState),
  }),
  row(
    'network.client.status.get',
    'GET /api/v1/network/client/status',
    'key read ok -',
    'Wi-Fi client status',
    { fails: READ_FAILS, responses: json('the joined network', network.clientStatus) },
  ),
  row('network.client.scan.get', 'GET /api/v1/network/client/scan', 'key read ok -', 'Wi-Fi scan', {
    limits: LIMITS.search,
    fails: [...READ_FAILS, 'E_BUSY'],
    responses: json('networks that the card hears', network.scan),
  }),
  row(
    'network.client.configured.get',
    'GET /api/v1/network/client/configured',
    'key read ok -',
    'saved Wi-Fi profiles, without secrets',
    { fails: READ_FAILS, responses: json('networks joined automatically', network.configured) },
  ),
  row(
    'network.client.join.put',
    'PUT /api/v1/network/client/join',
    'key admin ok guard link',
    'join a Wi-Fi network',
    {
      limits: LIMITS.network,
      body: network.joinRequest,
      fails: [...CHANGE_FAILS, 'E_HOTSPOT_ACTIVE'],
      responses: json('joined', network.joined),
    },
  ),
  row(
    'network.client.delete',
    'DELETE /api/v1/network/client',
    'key admin ok guard link',
    'leave the Wi-Fi network',
    {
      limits: { ...LIMITS.network, bodyBytes: 0 },
      fails: CHANGE_FAILS,
      responses: json('left', network.left),
    },
  ),
  row(
    'network.client.configured.name.delete',
    'DELETE /api/v1/network/client/configured/{name}',
    'key admin ok - link',
    'forget a saved profile',
    {
      limits: { ...LIMITS.network, bodyBytes: 0 },
      fails: [...CHANGE_FAILS, 'E_NOT_FOUND'],
      responses: json('forgotten', network.forgot),
    },
  ),
  row(
    'network.mac.adapters.get',
    'GET /api/v1/network/mac/adapters',
    'key read ok -',
    'network cards and the state of their MAC pins',
    { fails: ['E_STORE'], responses: json('adapters of this machine', network.macAdapters) },
  ),
  row('network.mac.pin.post', 'POST /api/v1/network/mac/pin', 'key admin ok - link', 'pin a MAC', {
    limits: LIMITS.slow,
    body: network.pinRequest,
    fails: ['E_NOT_FOUND', 'E_INVALID_VALUE', 'E_BUSY', 'E_STORE', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: json('from the next start of the machine', network.pinned),
  }),
  row(
    'network.mac.iface.delete',
    'DELETE /api/v1/network/mac/{iface}',
    'key admin ok - link',
    'clear a MAC pin',
    {
      limits: { ...LIMITS.slow, bodyBytes: 0 },
      fails: ['E_BUSY', 'E_STORE', 'E_UPSTREAM', 'E_TIMEOUT'],
      responses: json('from the next start of the machine', network.unpinned),
    },
  ),
  row(
    'network.ethernet.put',
    'PUT /api/v1/network/ethernet',
    'key admin ok guard link',
    'set the wired address',
    {
      limits: LIMITS.network,
      body: network.ethernetRequest,
      fails: CHANGE_FAILS,
      responses: json('the interface has it', network.ethernet),
    },
  ),
  row(
    'network.hotspot.put',
    'PUT /api/v1/network/hotspot',
    'key admin ok guard link',
    'turn the hotspot on or off',
    {
      limits: LIMITS.network,
      body: network.hotspotRequest,
      fails: CHANGE_FAILS,
      responses: json('as it is now', network.hotspot),
    },
  ),
  row('network.modem.get', 'GET /api/v1/network/modem', 'key read ok -', 'cellular modems', {
    fails: READ_FAILS,
    responses: json('as ModemManager has them', modems),
  }),
  row(
    'network.modem.put',
    'PUT /api/v1/network/modem',
    'key admin forbid - link',
    'connect a modem or not: access point, PIN of its SIM',
    {
      limits: LIMITS.network,
      body: modemRequest,
      fails: [...CHANGE_FAILS, 'E_NOT_FOUND', 'E_ARMED'],
      responses: json('as it is now', modem),
    },
  ),
] as const satisfies readonly Row[];
