import * as ground from '../schemas/ground-station.ts';
import * as network from '../schemas/network.ts';
import {
  pilotClaimAnswer,
  pilotClaimRequest,
  pilotEvent,
  pilotHeartbeatRequest,
  pilotReleaseRequest,
  pilotState,
} from '../schemas/pilot.ts';
import { recordStart, recordStarted, recordStopped } from '../schemas/video.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'front',
  feature: 'ground-station',
  profiles: 'G',
  params: { device_id: PARAM.id },
});

const RELAYED_PATH = { device_id: PARAM.id, path: PARAM.inner } as const;

/** NetworkManager refuses, is not running, or does not answer. */
const READ_FAILS = ['E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'] as const;
const CHANGE_FAILS = [...READ_FAILS, 'E_BUSY', 'E_INVALID_VALUE', 'E_STORE'] as const;
const MESH_FAILS = ['E_UPSTREAM', 'E_TIMEOUT', 'E_STORE'] as const;
/** Recordings are the residual's. */
const VIDEO_FAILS = ['E_NO_PIPELINE', 'E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'] as const;

export const groundStationRows = [
  row(
    'ground-station.status.get',
    'GET /api/v1/ground-station/status',
    'key read ok -',
    'status of the ground station',
    {
      responses: json('known values; null where unknown', ground.groundStatus),
    },
  ),
  row('ground-station.network.get', 'GET /api/v1/ground-station/network', 'key read ok -', 'network state', {
    fails: READ_FAILS,
    responses: json('hotspot, Wi-Fi, wired, uplinks', network.groundNetwork),
  }),
  row(
    'ground-station.network.ap.put',
    'PUT /api/v1/ground-station/network/ap',
    'key admin ok - link',
    'hotspot',
    {
      limits: LIMITS.network,
      // Of a ground station it is not guarded, so it has no `force`.
      body: { ...network.hotspotRequest, title: 'GroundHotspotRequest' },
      fails: CHANGE_FAILS,
      responses: json('as it is now', network.hotspot),
    },
  ),
  row(
    'ground-station.network.share-uplink.put',
    'PUT /api/v1/ground-station/network/share_uplink',
    'key admin ok - link',
    'share the uplink',
    {
      limits: LIMITS.network,
      body: network.shareRequest,
      fails: CHANGE_FAILS,
      responses: json('kept', network.shared),
    },
  ),
  row(
    'ground-station.network.priority.put',
    'PUT /api/v1/ground-station/network/priority',
    'key admin ok - link',
    'uplink order',
    {
      limits: LIMITS.network,
      body: network.priorityRequest,
      fails: CHANGE_FAILS,
      responses: json('kept', network.priority),
    },
  ),
  row(
    'ground-station.role.get',
    'GET /api/v1/ground-station/role',
    'key read ok -',
    'the role: direct, relay or receiver',
    { responses: json('the role, and the possible ones', ground.groundRole) },
  ),
  row(
    'ground-station.role.put',
    'PUT /api/v1/ground-station/role',
    'key admin ok guard link',
    'change the role of the ground station',
    {
      body: ground.groundRoleRequest,
      fails: ['E_STORE'],
      responses: json('kept in the config', ground.groundRoleAnswer),
    },
  ),
  row('ground-station.mesh.get', 'GET /api/v1/ground-station/mesh', 'key read ok -', 'mesh state', {
    fails: MESH_FAILS,
    responses: json('as batman-adv reports it', network.mesh),
  }),
  row(
    'ground-station.mesh.neighbors.get',
    'GET /api/v1/ground-station/mesh/neighbors',
    'key read ok -',
    'mesh neighbours',
    { fails: MESH_FAILS, responses: json('nodes heard directly', network.meshNeighbors) },
  ),
  row(
    'ground-station.mesh.routes.get',
    'GET /api/v1/ground-station/mesh/routes',
    'key read ok -',
    'mesh routes',
    {
      fails: MESH_FAILS,
      responses: json('the best route to each node', network.meshRoutes),
    },
  ),
  row(
    'ground-station.mesh.gateways.get',
    'GET /api/v1/ground-station/mesh/gateways',
    'key read ok -',
    'mesh gateways',
    { fails: MESH_FAILS, responses: json('nodes with an uplink', network.meshGateways) },
  ),
  row(
    'ground-station.mesh.config.get',
    'GET /api/v1/ground-station/mesh/config',
    'key read ok -',
    'mesh config',
    { fails: ['E_STORE'], responses: json('what is kept', network.meshConfig) },
  ),
  row(
    'ground-station.mesh.config.put',
    'PUT /api/v1/ground-station/mesh/config',
    'key admin ok guard link',
    'configure the mesh',
    { body: network.meshConfigRequest, fails: ['E_STORE'], responses: json('kept', network.meshConfig) },
  ),
  row('ground-station.pic.get', 'GET /api/v1/ground-station/pic', 'key read ok -', 'pilot in command', {
    responses: json('who it is', pilotState),
  }),
  row(
    'ground-station.pic.claim.post',
    'POST /api/v1/ground-station/pic/claim',
    'key flight ok - config',
    'become pilot in command',
    {
      body: pilotClaimRequest,
      fails: ['E_PIC_HELD'],
      responses: json('this client is pilot', pilotClaimAnswer),
    },
  ),
  row(
    'ground-station.pic.heartbeat.post',
    'POST /api/v1/ground-station/pic/heartbeat',
    'key flight ok - none',
    'keep the claim of the pilot in command',
    { body: pilotHeartbeatRequest, fails: ['E_NOT_PIC'], responses: json('still the pilot', pilotState) },
  ),
  row(
    'ground-station.pic.release.post',
    'POST /api/v1/ground-station/pic/release',
    'key flight ok - config',
    'give up the claim of the pilot in command',
    { body: pilotReleaseRequest, fails: ['E_NOT_PIC'], responses: json('nobody is pilot', pilotState) },
  ),
  row(
    'ground-station.pic.events.ws',
    'WS /api/v1/ground-station/pic/events',
    'ws read ok -',
    'changes of the pilot in command',
    { ticket: 'gs.pic', responses: json('the state, then each change, one text message each', pilotEvent) },
  ),
  row('ground-station.ui.get', 'GET /api/v1/ground-station/ui', 'key read ok -', 'screens, buttons, OLED', {
    fails: ['E_STORE'],
    responses: json('what is kept', ground.groundUi),
  }),
  row(
    'ground-station.ui.put',
    'PUT /api/v1/ground-station/ui',
    'key admin ok - config',
    'change screens, buttons, OLED',
    {
      body: ground.groundUiRequest,
      fails: ['E_STORE'],
      responses: json('all of it, as kept now', ground.groundUi),
    },
  ),
  row(
    'ground-station.recording.get',
    'GET /api/v1/ground-station/recording',
    'key read ok -',
    'recordings and their state',
    { fails: VIDEO_FAILS, responses: json('of the received video', ground.groundRecordings) },
  ),
  row(
    'ground-station.recording.start.post',
    'POST /api/v1/ground-station/recording/start',
    'key admin ok - config',
    'start recording',
    {
      body: recordStart,
      fails: [...VIDEO_FAILS, 'E_RECORDING_ACTIVE', 'E_DISK_FULL'],
      responses: json('it starts with the next key frame', recordStarted),
    },
  ),
  row(
    'ground-station.recording.stop.post',
    'POST /api/v1/ground-station/recording/stop',
    'key admin ok - config',
    'stop recording',
    {
      fails: [...VIDEO_FAILS, 'E_RECORDING_NOT_ACTIVE'],
      responses: json('the closed recording', recordStopped),
    },
  ),
  row(
    'ground-station.factory-reset.post',
    'POST /api/v1/ground-station/factory-reset',
    'keyonly none forbid guard config',
    'reset the ground station to its factory settings',
    {
      body: ground.factoryResetRequest,
      fails: ['E_STORE'],
      responses: json('what was removed and what stays', ground.factoryResetAnswer),
    },
  ),
  row(
    'ground-station.relay-proxy.device-id.path.any',
    'ANY /api/v1/ground-station/relay-proxy/{device_id}/{*path}',
    'key inner ok inner link',
    'forward to a bound drone; classes are those of the inner route',
    {
      params: RELAYED_PATH,
      limits: LIMITS.upload,
      bodyKind: 'stream',
      streamed: { 'application/octet-stream': BYTES },
      responses: media("the drone's own answer, whatever its status", '*/*'),
      fails: ['E_NOT_FOUND', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    },
  ),
  row(
    'ground-station.relay-proxy.device-id.path.ws',
    'WS /api/v1/ground-station/relay-proxy/{device_id}/{*path}',
    'ws inner ok inner',
    'forward a WebSocket to a bound drone',
    {
      params: RELAYED_PATH,
      ticket: 'relay:{device_id}',
      responses: media("the drone's own WebSocket", '*/*'),
      fails: ['E_NOT_FOUND', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
    },
  ),
  row(
    'ground-station.drones.get',
    'GET /api/v1/ground-station/drones',
    'key read ok -',
    'drones of this ground station',
    { responses: json('the bound drones', ground.groundDrones) },
  ),
  row(
    'ground-station.drones.active.put',
    'PUT /api/v1/ground-station/drones/active',
    'key admin ok guard link',
    'choose the active drone',
    {
      limits: LIMITS.slow,
      body: ground.activeDroneRequest,
      fails: ['E_NOT_FOUND', 'E_STORE', 'E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_DRAINING'],
      responses: json('svc-link and svc-video were restarted for it', ground.groundDrones),
    },
  ),
] as const satisfies readonly Row[];
