import { Denial } from '../denial.ts';
import { reading } from './parts.ts';
import { asRecord, type Tool } from './tool.ts';

const nullable = (type: 'string' | 'boolean' | 'number') => ({ type: [type, 'null'] }) as const;
const HEALTH_MS = 2000;

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
  reading({ name: 'status_time', title: 'Clock', description: "The node's clock." }, 'time.get'),
  {
    name: 'status_version',
    title: 'Versions',
    description: 'Version of the node, its board, the firmware of the flight controller.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      properties: {
        agentVersion: nullable('string'),
        board: { type: ['object', 'null'] },
        firmware: nullable('string'),
      },
    },
    idempotent: true,
    run: async ({ ask }) => {
      const {
        version = null,
        board = null,
        fc_firmware: firmware = null,
      } = asRecord(await ask({ method: 'GET', path: '/api/status' }));
      return { value: { agentVersion: version, board, firmware } };
    },
  },
  {
    name: 'status_health',
    title: 'Health',
    description:
      'Whether the node answers, whether its flight controller is connected, whether the vehicle is armed.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      required: ['reachable'],
      properties: {
        reachable: { type: 'boolean' },
        detail: { type: 'string' },
        fcConnected: nullable('boolean'),
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
        } = asRecord(await ask({ method: 'GET', path: '/api/status', timeoutMs: HEALTH_MS }));
        return { value: { reachable: true, fcConnected, armed, health } };
      } catch (error) {
        if (error instanceof Denial && error.reason === 'rest_down')
          return {
            value: { reachable: false, detail: error.message, fcConnected: null, armed: null, health: null },
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
      required: ['reachable', 'latencyMs', 'target'],
      properties: {
        reachable: { type: 'boolean' },
        latencyMs: nullable('number'),
        target: { type: 'string' },
      },
    },
    idempotent: true,
    run: async ({ ask, node }) => {
      const began = performance.now();
      try {
        await ask({ method: 'GET', path: '/api/status', timeoutMs: HEALTH_MS });
      } catch (error) {
        if (error instanceof Denial && error.reason === 'rest_down')
          return { value: { reachable: false, latencyMs: null, target: node.target.baseUrl } };
        throw error;
      }
      const latencyMs = Math.round((performance.now() - began) * 10) / 10;
      return { value: { reachable: true, latencyMs, target: node.target.baseUrl } };
    },
  },
  reading(
    {
      name: 'telemetry_snapshot',
      title: 'Telemetry',
      description:
        'Position, attitude, battery, GPS, mode, newest texts of the vehicle. null was never received.',
    },
    'telemetry.get',
  ),
  reading(
    { name: 'services_list', title: 'Services', description: 'The processes of the node and their states.' },
    'services.get',
  ),
  reading(
    { name: 'vision_status', title: 'Vision', description: 'State of the vision pipeline.' },
    'vision.status.get',
  ),
  {
    name: 'fleet_list_nodes',
    title: 'Nodes',
    description: 'All nodes of this connector, whether each answers, and the state of its vehicle.',
    routes: ['status.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      required: ['nodes'],
      properties: {
        nodes: {
          type: 'array',
          items: {
            type: 'object',
            required: ['deviceId', 'online'],
            properties: { deviceId: { type: 'string' }, online: { type: 'boolean' } },
          },
        },
      },
    },
    idempotent: true,
    fleetWide: true,
    run: async ({ plane, principal, signal }) => {
      const nodes = await Promise.all(
        plane.nodes.map(async (node) => {
          const { id, name } = node.target;
          try {
            const status = asRecord(
              await node.json(
                { method: 'GET', path: '/api/status', timeoutMs: HEALTH_MS },
                principal,
                signal,
              ),
            );
            const {
              version = null,
              profile = null,
              fc_connected: fcConnected = null,
              armed = null,
              board = null,
            } = status;
            return {
              deviceId: id,
              name,
              online: true,
              agentVersion: version,
              profile,
              fcConnected,
              armed,
              board,
            };
          } catch (error) {
            if (!(error instanceof Denial)) throw error;
            return { deviceId: id, name, online: error.reason !== 'rest_down', problem: error.message };
          }
        }),
      );
      return { value: { nodes } };
    },
  },
];
