import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { Announcer } from '../../shared/mdns/announcer.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Service } from '../../shared/process/services.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { VERSION } from '../../shared/version.ts';
import type { ConnectorAudit } from '../audit/audit.ts';
import type { Authenticator } from '../authenticate.ts';
import type { Plane } from '../planes/plane.ts';
import { type Principal, SOCKET, STDIO } from '../principal.ts';
import type { ServerDeps } from '../server.ts';
import type { Settings } from '../settings.ts';
import { HttpFace, type HttpOptions } from './http.ts';

/** The transports over HTTP and the advertiser, as services that are started and stopped. */

const steady = (): number => performance.now();
const HEALTH_CACHE_MS = 5000;

interface HttpServiceOptions extends Pick<HttpOptions, 'depsOf' | 'health' | 'metadata' | 'log'> {
  readonly settings: Settings;
  readonly bearer: Authenticator;
  readonly audit: ConnectorAudit;
  /** Where it is noted once it serves. */
  readonly faces: HttpFace[];
}

/** Over HTTP, for clients with a token. */
export function httpService({
  settings,
  depsOf,
  bearer,
  health,
  metadata,
  audit,
  log,
  faces,
}: HttpServiceOptions): Service {
  const hosts = new Set([
    'localhost',
    '127.0.0.1',
    '::1',
    settings.httpHost,
    hostname().toLowerCase(),
    `${hostname().toLowerCase()}.local`,
    // As a reverse proxy passes on the name that it has.
    ...(metadata === undefined ? [] : [new URL(metadata.resource).hostname]),
  ]);
  const face = new HttpFace({
    depsOf,
    transport: 'http',
    authenticate: async (req) => bearer.authenticate(req),
    hosts,
    health,
    ...(metadata === undefined ? {} : { metadata }),
    onRefused: (req, denial) => {
      audit.write({
        tokenId: 'none',
        operatorId: 'none',
        tool: 'authenticate',
        args: { peer: req.socket.remoteAddress ?? 'unknown' },
        node: '*',
        decision: 'denied',
        confirmedBy: null,
        result: `${denial.reason}: ${denial.message}`,
        latencyMs: 0,
        mcpSession: '-',
        plane: 'http',
      });
    },
    now: steady,
    log,
  });
  return {
    name: 'http',
    async start() {
      face.server.listen(settings.httpPort, settings.httpHost);
      await once(face.server, 'listening');
      const address = face.server.address();
      const port = typeof address === 'object' && address !== null ? address.port : settings.httpPort;
      log.info(`listening on http://${settings.httpHost}:${port}/mcp`);
      faces.push(face);
      face.start();
    },
    stop: async () => face.stop(),
  };
}

/** @param alone whether nothing else serves; beside HTTP it may be missing */
export function socketService(
  settings: Settings,
  deps: ServerDeps,
  plane: Plane,
  log: Logger,
  faces: HttpFace[],
  alone: boolean,
  principal: Principal = SOCKET,
): Service {
  const options: HttpOptions = {
    depsOf: () => deps,
    transport: 'unix',
    authenticate: async () => Promise.resolve(principal),
    hosts: null,
    health: async () => Promise.resolve({ ok: plane.nodes.length > 0 }),
    onRefused: () => undefined,
    now: steady,
    log,
  };
  const face = new HttpFace(options);
  const path = join(settings.runDir, 'mcp.sock');
  return {
    name: 'socket',
    async start() {
      try {
        await listenUnix(face.server, path);
      } catch (error) {
        if (alone) throw error;
        log.warn(`no Unix socket: ${messageOf(error)}`);
        return;
      }
      log.info(`listening on ${path}`);
      faces.push(face);
      face.start();
    },
    stop: async () => face.stop(),
  };
}

/** Makes the connector known by mDNS. */
export function advertiserService({ httpPort }: Settings, plane: Plane, log: Logger): Service {
  const announcer = new Announcer((sentence) => log.warn(sentence));
  return {
    name: 'mDNS',
    start() {
      const [node] = plane.nodes;
      const txt = {
        version: VERSION,
        device_id: node?.target.id ?? '',
        name: node?.target.name ?? '',
        profile: plane.mode,
      };
      const name = `svc-mcp ${node?.target.name ?? hostname()}`;
      announcer.publish([{ name, type: '_svc-mcp._tcp', port: httpPort, host: null, txt }]);
      announcer.start();
    },
    stop: async () => announcer.stop(),
  };
}

export function healthOf(settings: Settings, plane: Plane, audit: ConnectorAudit): HttpOptions['health'] {
  let known: { at: number; answering: number } | null = null;
  return async () => {
    if (known === null || steady() - known.at > HEALTH_CACHE_MS) {
      const answers = await Promise.all(
        plane.nodes.map(async (node) =>
          node.presence !== null
            ? Number(node.presence.online)
            : node.json({ method: 'GET', path: '/healthz', timeoutMs: 2000 }, STDIO).then(
                () => 1,
                () => 0, // not reachable
              ),
        ),
      );
      known = { at: steady(), answering: answers.reduce<number>((sum, each) => sum + each, 0) };
    }
    const problem = audit.problem();
    return {
      ok: known.answering > 0 && problem === null,
      version: VERSION,
      mode: settings.target,
      nodes: plane.nodes.length,
      answering: known.answering,
      audit: problem === null,
    };
  };
}
