import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isDeviceId } from '../shared/device-id.ts';
import { isLoopback } from './loopback.ts';
import { TOOLSETS, type Toolset } from './toolsets.ts';

/** Flags, environment and defaults of svc-mcp; a flag wins over the environment. */

type TransportChoice = 'auto' | 'stdio' | 'http' | 'unix';

export interface Settings {
  readonly target: 'agent' | 'local-fleet' | 'fleet';
  /** agent: the node; local-fleet: the fleet file, if it was given as an argument. */
  readonly place: string | null;
  readonly transport: TransportChoice;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly fleetFile: string;
  /** A whole fleet, given in the environment. */
  readonly inlineFleet: string | null;
  readonly token: string | null;
  /** fleet: --gcs as it was given. */
  readonly gcs: string | null;
  /** fleet: the hub's and the broker's address, instead of what --gcs and the hub say. */
  readonly cloudUrl: string | null;
  readonly mqttUrl: string | null;
  /** fleet: a file in PEM, the authority that vouches for the hub. */
  readonly hubCa: string | null;
  /** fleet: the address at which hosted clients reach us, and their people sign in; null: one machine credential for all. */
  readonly resource: string | null;
  /** Where keys for machine credentials are. */
  readonly keysDir: string;
  readonly agentKey: string | null;
  readonly nodeId: string | null;
  /** agent: of a node that is not in ~/.svc/known_nodes. */
  readonly fingerprint: string | null;
  readonly owner: string | null;
  readonly auditPath: string;
  readonly runDir: string;
  /** --toolset: families of tools that are listed besides the usual ones. */
  readonly toolsets: ReadonlySet<Toolset>;
  readonly sim: boolean;
  readonly flightEnforced: boolean;
  readonly discover: boolean;
  /** --adopt: ids of nodes that --discover may adopt. */
  readonly adopt: ReadonlySet<string>;
  readonly mdns: boolean;
  readonly verify: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export class UsageError extends Error {}

export const USAGE = `svc-mcp: a drone or its ground station for AI clients, through the Model Context Protocol.

  svc-mcp --target agent <host>             one node; its pairing key in SVC_MCP_AGENT_KEY
  svc-mcp --target local-fleet [fleet.json] many nodes of one LAN
  svc-mcp --target fleet --gcs URL          all nodes of a hub; its machine credential in SVC_MCP_TOKEN
  svc-mcp audit verify                      checks the chain of the audit file

  --transport auto|stdio|http|unix   default auto: stdio when a client launched it
  --http-port 8091, --http-host 127.0.0.1
  --fleet-file ~/.svc/mcp/fleet.json
  --token TOKEN                      the launch principal (SVC_MCP_TOKEN)
  --node-id ID                       the node's device id: no other one is asked (SVC_NODE_ID)
  --fingerprint SHA256               agent: of a node that this machine does not know yet; svc node fingerprint
                                     prints it on the node (SVC_NODE_FINGERPRINT)
  --audit-path ~/.svc/mcp/audit.ndjson
  --toolset mission,payload,…        lists more tools: mission, payload, flight-logs, setup, or all
  --resource URL                     fleet, over HTTP: the address at which hosted AI clients reach this connector; their
                                     people sign in at the hub's provider, no machine credential (SVC_MCP_RESOURCE)
  --flight-enforced                  flight tools on; checked against the node's config (SVC_MCP_FLIGHT_ENFORCED=true)
  --sim                              every target is a simulator; refuses to start otherwise
  --discover                         local-fleet: find the nodes of the LAN; while the fleet file has none, adopt
                                     the unpaired ones
  --adopt ID,…                       the nodes that --discover may adopt beside those that the file has already
  --no-mdns                          do not advertise this connector
  --verify                           check each node and credential, print, exit 0 or 1
  --gcs local|prod|URL               fleet: the hub; local is http://127.0.0.1:8190, prod asks for SVC_CLOUD_URL
                                     SVC_CLOUD_URL: the hub, whatever --gcs says
  --mqtt-url URL                     fleet: the broker, whatever the hub says (SVC_MQTT_URL)
                                     SVC_HUB_CA: file with the hub's authority, if the system does not know it
`;

const TARGETS = ['agent', 'local-fleet', 'fleet'] as const;
const TRANSPORTS = ['auto', 'stdio', 'http', 'unix'] as const;
/** As installers of AI clients write what a person has ticked. */
const SWITCH = ['true', 'false'] as const;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

type Env = Readonly<Record<string, string | undefined>>;

/** @throws UsageError with a sentence that names the flag */
export function readSettings(argv: readonly string[], env: Env): Settings {
  const { values, positionals } = parse(argv);
  const home = join(homedir(), '.svc', 'mcp');
  const target = oneOf(values.target, TARGETS, '--target');
  if (target === undefined) throw new UsageError('--target is required: agent, local-fleet or fleet');
  if (positionals.length > 1) throw new UsageError(`unexpected argument ${positionals[1] ?? ''}`);
  const given = (name: string): string | null =>
    env[name] === undefined || env[name] === '' ? null : env[name];
  const level = oneOf(given('SVC_MCP_LOG_LEVEL') ?? undefined, LEVELS, 'SVC_MCP_LOG_LEVEL') ?? 'info';
  const discover = values.discover === true || env['SVC_MCP_DISCOVER'] === '1';
  if (discover && target !== 'local-fleet') throw new UsageError('--discover is for --target local-fleet');
  const adopt = new Set((values.adopt ?? []).flatMap((text) => text.split(',')));
  if (adopt.size > 0 && !discover) throw new UsageError('--adopt is for --discover');
  const odd = [...adopt].find((id): boolean => !isDeviceId(id));
  if (odd !== undefined) throw new UsageError(`--adopt ${odd}: a node's id is 12 digits, 0-9 and a-f`);
  const resource = values.resource ?? given('SVC_MCP_RESOURCE');
  const token = values.token ?? given('SVC_MCP_TOKEN');
  if (resource !== null) checkResource(resource, target, values, token);
  return {
    target,
    place: positionals[0] ?? (target === 'agent' ? given('SVC_AGENT_HOST') : null),
    transport: oneOf(values.transport, TRANSPORTS, '--transport') ?? 'auto',
    httpHost: values['http-host'] ?? '127.0.0.1',
    httpPort: portOf(values['http-port'] ?? given('SVC_MCP_HTTP_PORT') ?? '8091'),
    fleetFile: values['fleet-file'] ?? given('SVC_MCP_FLEET_PATH') ?? join(home, 'fleet.json'),
    inlineFleet: given('SVC_MCP_FLEET'),
    token,
    gcs: values.gcs ?? null,
    cloudUrl: given('SVC_CLOUD_URL'),
    mqttUrl: values['mqtt-url'] ?? given('SVC_MQTT_URL'),
    hubCa: given('SVC_HUB_CA'),
    resource,
    keysDir: home,
    agentKey: given('SVC_MCP_AGENT_KEY'),
    nodeId: values['node-id'] ?? given('SVC_NODE_ID'),
    fingerprint: values.fingerprint ?? given('SVC_NODE_FINGERPRINT'),
    owner: given('SVC_MCP_OWNER'),
    auditPath: values['audit-path'] ?? given('SVC_MCP_AUDIT_PATH') ?? join(home, 'audit.ndjson'),
    runDir: given('SVC_RUN_DIR') ?? '/run/svc',
    toolsets: toolsetsOf(values.toolset ?? []),
    sim: values.sim === true,
    flightEnforced:
      values['flight-enforced'] === true ||
      oneOf(given('SVC_MCP_FLIGHT_ENFORCED') ?? undefined, SWITCH, 'SVC_MCP_FLIGHT_ENFORCED') === 'true',
    discover,
    adopt,
    mdns: values['no-mdns'] !== true,
    verify: values.verify === true,
    logLevel: level,
  };
}

/** @throws UsageError */
function checkResource(
  resource: string,
  target: Settings['target'],
  { transport, sim }: Pick<ReturnType<typeof parse>['values'], 'transport' | 'sim'>,
  token: string | null,
): void {
  const url = URL.canParse(resource) ? new URL(resource) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!isSafe || url?.href !== resource || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new UsageError(`--resource ${resource}: it is an https address as https://ai.example.org/mcp`);
  if (target !== 'fleet' || transport !== 'http')
    throw new UsageError('--resource is for --target fleet --transport http');
  if (sim === true || token !== null)
    throw new UsageError('--resource: people sign in, so there is no SVC_MCP_TOKEN, and no --sim');
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        target: { type: 'string' },
        transport: { type: 'string' },
        'http-port': { type: 'string' },
        'http-host': { type: 'string' },
        'fleet-file': { type: 'string' },
        gcs: { type: 'string' },
        'mqtt-url': { type: 'string' },
        token: { type: 'string' },
        'node-id': { type: 'string' },
        fingerprint: { type: 'string' },
        'audit-path': { type: 'string' },
        toolset: { type: 'string', multiple: true },
        sim: { type: 'boolean' },
        resource: { type: 'string' },
        'flight-enforced': { type: 'boolean' },
        discover: { type: 'boolean' },
        adopt: { type: 'string', multiple: true },
        'no-mdns': { type: 'boolean' },
        verify: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function oneOf<T extends string>(
  value: string | undefined,
  choices: readonly T[],
  flag: string,
): T | undefined {
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new UsageError(`${flag} ${value}: it is ${choices.join(', ')}`);
  return found;
}

function toolsetsOf(given: readonly string[]): ReadonlySet<Toolset> {
  const names = given.flatMap((text) => text.split(','));
  if (names.includes('all')) return new Set(TOOLSETS);
  return new Set(
    names.map((each) => oneOf(each, TOOLSETS, '--toolset')).filter((each) => each !== undefined),
  );
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--http-port ${text} is not a port`);
  return port;
}
