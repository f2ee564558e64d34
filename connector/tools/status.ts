import { seenIn, stateLine } from '../../shared/flight/seen.ts';
import type { JsonObject } from '../../shared/member.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import { Denial } from '../denial.ts';
import { type Ask, askOf } from '../planes/ask.ts';
import type { NodeClient, Presence } from '../planes/node-client.ts';
import type { Plane } from '../planes/plane.ts';
import { sideBySide } from '../planes/side-by-side.ts';
import type { Principal } from '../principal.ts';
import { asRecord, rowOf } from '../rows.ts';
import { shortText } from '../short-text.ts';
import { reading } from './parts.ts';
import type { Arguments, Tool } from './tool.ts';

const STATUS_MS = 2000;

/** What a node has rows for besides its own status: where it has none, the answer is its 501. */
const PARTS = {
  node: 'status.get',
  all: 'status.full.get',
  system: 'system.get',
  services: 'services.get',
  links: 'diagnostics.get',
  clock: 'time.get',
  corrections: 'rtk.get',
  radio: 'wfb.get',
  network: 'network.get',
  ground: 'ground-station.status.get',
  peripherals: 'peripherals.get',
  pairing: 'pairing.info.get',
  video: 'video.get',
  vision: 'vision.status.get',
} as const satisfies Readonly<Record<string, RowId>>;
type Part = keyof typeof PARTS;

function partOf(named: unknown): Part {
  return Object.keys(PARTS).find((part): part is Part => part === named) ?? 'node';
}

/** What a person asks of a vehicle; sticks, outputs, motors, ages and counters are in the structure. */
function telemetryText(value: JsonObject): string {
  const { position, velocity, battery, failsafe, gps, home, mission, fence, statustext } = value;
  const [attitude, ekf, prearm] = [value['attitude'], value['ekf'], value['prearm']].map(asRecord);
  const texts = Array.isArray(statustext) ? statustext.map((each) => asRecord(each)['text']) : [];
  const brief = {
    position,
    velocity,
    attitude: {
      roll_deg: attitude?.['roll_deg'],
      pitch_deg: attitude?.['pitch_deg'],
      yaw_deg: attitude?.['yaw_deg'],
    },
    battery,
    failsafe,
    gps,
    ekf: { ok: ekf?.['ok'] },
    prearm: { can_arm: prearm?.['can_arm'], reasons: prearm?.['reasons'] },
    home,
    mission,
    fence,
    texts,
  };
  return `${stateLine(seenIn(value))}\n${shortText(brief)}`;
}

export const statusTools: readonly Tool[] = [
  {
    name: 'status_get',
    title: 'Status',
    description:
      'The node: version, board, health, problems, link to the flight controller, and how fast it answers. Or one part of it.',
    routes: ['status.get'],
    besides: Object.values(PARTS),
    input: {
      properties: {
        part: {
          type: 'string',
          enum: Object.keys(PARTS),
          default: 'node',
          description:
            'system: CPU, memory, disk, heat; links: endpoints, counters; corrections: RTK; network with modems; all: node, services, telemetry, video',
        },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const part = partOf(args['part']);
      const began = performance.now();
      const told = asRecord(await ask(rowOf(PARTS[part]), part === 'node' ? { timeoutMs: STATUS_MS } : {}));
      if (part === 'node') return { value: { ...told, latency_ms: Math.round(performance.now() - began) } };
      if (part !== 'network') return { value: told };
      const modems = await modemsOf(ask);
      return { value: modems === null ? told : { ...told, modems } };
    },
  },
  {
    ...reading(
      {
        name: 'telemetry_snapshot',
        title: 'Telemetry',
        description: 'The vehicle now: position, attitude, battery, GPS, mode, its newest texts.',
      },
      'telemetry.get',
    ),
    run: async ({ ask }) => {
      const value = asRecord(await ask('telemetry.get'));
      return { value, text: telemetryText(value) };
    },
  },
  {
    name: 'fleet_list_nodes',
    title: 'Nodes',
    description:
      'The nodes: which are there, and the state of each vehicle. From a hub without asking them: `from` and `seen_ago_s` say so.',
    routes: ['status.get'],
    input: {
      properties: {
        match: { type: 'string', maxLength: 128, description: 'a part of the id or name' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 200, description: 'nodes' },
        ask: { type: 'boolean', default: false, description: 'every node itself, now' },
      },
    },
    idempotent: true,
    fleetWide: true,
    ofFleet: true,
    run: async ({ plane, principal, signal, args }) => {
      const { chosen, total } = someOf(plane, args);
      const nodes = await sideBySide(chosen, async (node) =>
        node.presence === null || args['ask'] === true
          ? askedStatus(node, principal, signal)
          : toldStatus(node, node.presence),
      );
      return { value: { nodes, total } };
    },
  },
];

/** Null where nothing there speaks for modems, most of the time. */
async function modemsOf(ask: Ask): Promise<unknown> {
  try {
    return (await ask('network.modem.get')).modems ?? null;
  } catch (error) {
    if (error instanceof Denial) return null;
    throw error;
  }
}

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
    const status = await askOf(node, principal, signal)('status.get', { timeoutMs: STATUS_MS });
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
