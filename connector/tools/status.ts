import type { JsonObject } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial } from '../denial.ts';
import { askOf } from '../planes/ask.ts';
import type { NodeClient, Presence } from '../planes/node-client.ts';
import type { Plane } from '../planes/plane.ts';
import { sideBySide } from '../planes/side-by-side.ts';
import type { Principal } from '../principal.ts';
import { reading } from './parts.ts';
import type { Arguments, Tool } from './tool.ts';

const nullable = (type: 'string' | 'boolean' | 'number') => ({ type: [type, 'null'] }) as const;
const HEALTH_MS = 2000;

const SOME_NODES: Readonly<Record<string, JsonSchema>> = {
  match: { type: 'string', maxLength: 128, description: 'a part of the id or name' },
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 200 },
};
const NODES: JsonSchema = {
  type: 'object',
  required: ['nodes', 'total'],
  properties: {
    nodes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name', 'online'],
        properties: {
          id: { type: 'string' },
          name: { type: ['string', 'null'] },
          online: { type: 'boolean' },
        },
      },
    },
    total: { type: 'integer' },
  },
};

export const statusTools: readonly Tool[] = [
  reading(
    {
      name: 'status_get',
      title: 'Node status',
      description: 'Version, board, health, flight controller link.',
    },
    'status.get',
  ),
  reading(
    {
      name: 'status_full',
      title: 'Full node status',
      description: 'Status, services, resources, telemetry and video in one.',
    },
    'status.full.get',
  ),
  reading(
    { name: 'status_system', title: 'System resources', description: 'CPU, memory, disk, temperatures.' },
    'system.get',
  ),
  reading(
    {
      name: 'status_diagnostics',
      title: 'Diagnostics',
      description: 'Links, endpoints and counters, network, problems.',
    },
    'diagnostics.get',
  ),
  reading({ name: 'rtk_status', title: 'Corrections', description: 'RTK corrections.' }, 'rtk.get'),
  reading({ name: 'status_time', title: 'Clock', description: "The node's clock." }, 'time.get'),
  {
    name: 'status_version',
    title: 'Versions',
    description: 'Versions of node and firmware, and the board.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      properties: {
        version: nullable('string'),
        board: { type: ['object', 'null'] },
        firmware: nullable('string'),
      },
    },
    idempotent: true,
    run: async ({ ask }) => {
      const { version = null, board = null, fc_firmware: firmware = null } = await ask('status.get');
      return { value: { version, board, firmware } };
    },
  },
  {
    name: 'status_health',
    title: 'Health',
    description: 'Whether node and flight controller answer, and the vehicle is armed.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      required: ['reachable'],
      properties: {
        reachable: { type: 'boolean' },
        detail: { type: 'string' },
        fc_connected: nullable('boolean'),
        armed: { type: ['boolean', 'string', 'null'] },
        health: { type: ['object', 'null'] },
      },
    },
    idempotent: true,
    run: async ({ ask }) => {
      try {
        const {
          fc_connected: fcConnected = null,
          armed = null,
          health = null,
        } = await ask('status.get', { timeoutMs: HEALTH_MS });
        return { value: { reachable: true, fc_connected: fcConnected, armed, health } };
      } catch (error) {
        if (error instanceof Denial && error.reason === 'rest_down')
          return {
            value: { reachable: false, detail: error.message, fc_connected: null, armed: null, health: null },
          };
        throw error;
      }
    },
  },
  {
    name: 'status_ping',
    title: 'Ping',
    description: 'Whether the node answers, and how quickly.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      required: ['reachable', 'latency_ms', 'target'],
      properties: {
        reachable: { type: 'boolean' },
        latency_ms: nullable('number'),
        target: { type: 'string' },
      },
    },
    idempotent: true,
    run: async ({ ask, node }) => {
      const began = performance.now();
      try {
        await ask('status.get', { timeoutMs: HEALTH_MS });
      } catch (error) {
        if (error instanceof Denial && error.reason === 'rest_down')
          return {
            value: { reachable: false, latency_ms: null, target: node.target.baseUrl ?? node.target.id },
          };
        throw error;
      }
      const latencyMs = Math.round((performance.now() - began) * 10) / 10;
      return {
        value: { reachable: true, latency_ms: latencyMs, target: node.target.baseUrl ?? node.target.id },
      };
    },
  },
  reading(
    {
      name: 'telemetry_snapshot',
      title: 'Telemetry',
      description: 'Position, attitude, battery, GPS, mode, newest texts. null was never received.',
    },
    'telemetry.get',
  ),
  reading(
    { name: 'services_list', title: 'Services', description: 'Its processes and their states.' },
    'services.get',
  ),
  {
    name: 'fleet_list_nodes',
    title: 'Nodes',
    description: 'The nodes: which are there, and the state of each vehicle.',
    routes: ['status.get'],
    input: { properties: SOME_NODES },
    output: NODES,
    idempotent: true,
    fleetWide: true,
    run: async ({ plane, principal, signal, args }) => {
      const { chosen, total } = someOf(plane, args);
      // Of a fleet the hub knows it without a question to each node.
      const nodes = await sideBySide(chosen, async (node) =>
        node.presence === null ? askedStatus(node, principal, signal) : toldStatus(node, node.presence),
      );
      return { value: { nodes, total } };
    },
  },
  {
    name: 'fleet_status',
    title: 'Status of the nodes',
    description: 'Asks every node now. Where one is silent, `from` is "hub": what it told last.',
    routes: ['status.get'],
    input: { properties: SOME_NODES },
    output: NODES,
    idempotent: true,
    fleetWide: true,
    run: async ({ plane, principal, signal, args }) => {
      const { chosen, total } = someOf(plane, args);
      const nodes = await sideBySide(chosen, async (node) => askedStatus(node, principal, signal));
      return { value: { nodes, total } };
    },
  },
];

const MOST = 200;

/** @returns those that fit, by name, and how many fit */
function someOf(
  { nodes }: Plane,
  { match, limit }: Arguments,
): { readonly chosen: readonly NodeClient[]; readonly total: number } {
  const wanted = typeof match === 'string' ? match.toLowerCase() : '';
  const fit = nodes.filter(({ target: { id, name } }) =>
    `${id}\n${name ?? ''}`.toLowerCase().includes(wanted),
  );
  return { chosen: fit.slice(0, Number(limit ?? MOST)), total: fit.length };
}

/** As the node says now; else why it does not, and in a fleet what it told last. */
async function askedStatus(node: NodeClient, principal: Principal, signal: AbortSignal): Promise<JsonObject> {
  const { id, name } = node.target;
  try {
    const status = await askOf(node, principal, signal)('status.get', { timeoutMs: HEALTH_MS });
    return {
      id,
      name,
      online: true,
      ...(node.presence === null ? {} : { from: 'node' }),
      ...stateOf(status),
    };
  } catch (error) {
    if (!(error instanceof Denial)) throw error;
    const problem = error.message;
    if (node.presence !== null) return { ...toldStatus(node, node.presence), problem };
    return { id, name, online: error.reason !== 'rest_down', problem };
  }
}

/** As the hub has it. `seen_ago_s`: how old that is. */
function toldStatus(
  { target: { id, name } }: NodeClient,
  { online, seenAt, status, alarm }: Presence,
): JsonObject {
  const seenAgoS = seenAt === null ? null : Math.max(0, Math.round((Date.now() - seenAt) / 1000));
  return {
    id,
    name,
    online,
    from: 'hub',
    seen_ago_s: seenAgoS,
    ...(alarm === null ? {} : { alarm }),
    ...(status === null ? {} : stateOf(status)),
  };
}

function stateOf(status: JsonObject): JsonObject {
  const {
    version = null,
    profile = null,
    fc_connected: fcConnected = null,
    armed = null,
    board = null,
    mode,
    battery_percent: battery,
  } = status;
  return {
    version,
    profile,
    fc_connected: fcConnected,
    armed,
    board,
    ...(mode === undefined ? {} : { mode }),
    ...(battery === undefined ? {} : { battery }),
  };
}
