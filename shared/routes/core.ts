import { noBody } from '../schemas/no-body.ts';
import * as node from '../schemas/node.ts';
import { updateStatus } from '../schemas/update.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'front',
  feature: 'core',
  profiles: 'DG',
  params: { name: PARAM.unit },
});

export const coreRows = [
  row('healthz.get', 'GET /healthz', 'public none ok -', 'liveness: status, version', {
    responses: json('alive', node.healthz),
  }),
  row(
    'readyz.get',
    'GET /readyz',
    'public none ok -',
    'readiness: each dependency of this profile, 503 until ready',
    {
      responses: {
        ...json('ready', node.readyz),
        503: { description: 'not ready yet', mediaType: 'application/json', schema: node.readyz },
      },
    },
  ),
  row('ping.get', 'GET /api/ping', 'public none ok -', 'echo, to measure the round trip', {
    responses: json('the wall clock', node.ping),
  }),
  row('version.get', 'GET /api/version', 'public none ok -', 'versions and capability strings', {
    responses: json('versions', node.version),
  }),
  row('time.get', 'GET /api/time', 'key read ok -', 'wall and monotonic clock, NTP state', {
    responses: json('clocks', node.time),
  }),
  row('status.get', 'GET /api/status', 'key read ok -', 'agent status', {
    responses: json('the node', node.status),
  }),
  row(
    'status.full.get',
    'GET /api/status/full',
    'key read ok -',
    'status, services, resources and telemetry in one',
    {
      fails: ['E_UPSTREAM_DOWN'],
      responses: json('status, services, resources and telemetry in one', node.statusFull),
    },
  ),
  row('system.get', 'GET /api/system', 'key read ok -', 'CPU, memory, disk, temperature', {
    responses: json('measured now; null where unknown', node.system),
  }),
  row('system.reboot.post', 'POST /api/system/reboot', 'key destructive ok guard link', 'reboot the node', {
    limits: LIMITS.slow,
    body: noBody,
    fails: ['E_BUSY', 'E_UPSTREAM', 'E_TIMEOUT'],
    responses: json('systemd has accepted it', node.powered),
  }),
  row(
    'system.shutdown.post',
    'POST /api/system/shutdown',
    'key destructive ok guard link',
    'power the node off',
    {
      limits: LIMITS.slow,
      body: noBody,
      fails: ['E_BUSY', 'E_UPSTREAM', 'E_TIMEOUT'],
      responses: json('systemd has accepted it', node.powered),
    },
  ),
  row('diagnostics.get', 'GET /api/v1/diagnostics', 'key read ok -', 'snapshot for troubleshooting', {
    fails: ['E_UPSTREAM_DOWN'],
    responses: json('where to look first when something is wrong', node.diagnostics),
  }),
  row('services.get', 'GET /api/services', 'key read ok -', 'services and their states', {
    fails: ['E_UPSTREAM_DOWN'],
    responses: json('processes of this node', node.services),
  }),
  row(
    'services.name.restart.post',
    'POST /api/services/{name}/restart',
    'key admin ok guard-if-link link',
    'restart one service',
    {
      limits: LIMITS.slow,
      names: [{ kind: 'service', in: 'path', member: 'name' }],
      body: noBody,
      fails: ['E_BUSY', 'E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT'],
      responses: json('restarted, with its new process', node.restarted),
    },
  ),
  row(
    'system.restart-supervisor.post',
    'POST /api/v1/system/restart-supervisor',
    'key admin ok guard link',
    'restart the supervisor',
    {
      limits: LIMITS.slow,
      body: noBody,
      fails: ['E_UPSTREAM_DOWN'],
      responses: json('it will restart', node.restarted),
    },
  ),
  row(
    'openapi-json.get',
    'GET /openapi.json',
    'key read ok -',
    'OpenAPI 3.1 document generated from the route table',
    { responses: media('this document', 'application/json') },
  ),
  row('llms-txt.get', 'GET /llms.txt', 'public none ok -', 'what an AI client should know first', {
    responses: media('Markdown', 'text/plain'),
  }),
  row('metrics.get', 'GET /metrics', 'key read ok -', 'Prometheus text metrics', {
    responses: media('Prometheus text', 'text/plain'),
  }),
  row('system.update.get', 'GET /api/v1/system/update', 'key read ok -', 'state of an update', {
    fails: ['E_UPSTREAM', 'E_TIMEOUT'],
    responses: json(
      'the newest update; idle before the first, and on a node that is not installed',
      updateStatus,
    ),
  }),
  row(
    'support-bundle.get',
    'GET /api/v1/support-bundle',
    'key secret_read forbid -',
    'support bundle without secrets',
    {
      limits: LIMITS.stream,
      fails: ['E_BUSY', 'E_UPSTREAM', 'E_TIMEOUT'],
      responses: media('everything a helper needs, manifest.json last', 'application/zip'),
    },
  ),
  row(
    'system.update.post',
    'POST /api/v1/system/update',
    'key admin forbid guard aircraft',
    'install a signed bundle',
    {
      limits: LIMITS.bundle,
      bodyKind: 'stream',
      streamed: { 'application/octet-stream': BYTES },
      fails: ['E_BUSY', 'E_STOPPED', 'E_DISK_FULL', 'E_STORE', 'E_UPSTREAM', 'E_TIMEOUT'],
      responses: {
        202: {
          description: 'the bundle is stored; GET shows the progress',
          mediaType: 'application/json',
          schema: updateStatus,
        },
      },
    },
  ),
  row('audit.verify.get', 'GET /api/audit/verify', 'key read ok -', 'whether the audit is whole', {
    feature: 'logs',
    // Of 52 MiB of records.
    limits: { ...LIMITS.read, timeoutMs: LIMITS.slow.timeoutMs },
    fails: ['E_STORE'],
    responses: json('each of its files, oldest first', node.auditReport),
  }),
] as const satisfies readonly Row[];
