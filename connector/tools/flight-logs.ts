import { Denial } from '../denial.ts';
import { pathOf, rowOf } from '../rows.ts';
import { reading } from './parts.ts';
import { addressOf, answerOf, type Tool } from './tool.ts';

/** The flight logs of the vehicle; not the node's own log (logs.ts). */
export const flightLogTools: readonly Tool[] = [
  reading(
    {
      name: 'flight_logs_list',
      title: 'Flight logs',
      description: 'Logs on the vehicle, and how much of each the node holds.',
    },
    'flight-logs.get',
    { toolset: 'flight-logs' },
  ),
  {
    name: 'flight_logs_get',
    title: 'One flight log',
    description: 'A link to one log; fetch it with your credential.',
    toolset: 'flight-logs',
    routes: ['flight-logs.get', 'flight-logs.id.get'],
    input: { properties: { id: { type: 'integer', minimum: 0, maximum: 65_535 } }, required: ['id'] },
    output: {
      type: 'object',
      required: ['id', 'size', 'url'],
      properties: { id: { type: 'integer' }, size: { type: 'integer' }, url: { type: 'string' } },
    },
    idempotent: true,
    run: async ({ ask, args, node }) => {
      const { logs = [] } = await ask('flight-logs.get');
      const id = Number(args['id']);
      const found = logs.find((each) => each.id === id);
      if (found === undefined) throw new Denial('not_found', `The vehicle has no log ${id}.`);
      const { size } = found;
      const uri = addressOf(node) + pathOf('flight-logs.id.get', { id: String(id) });
      return {
        value: { id, size, time: found.time ?? null, url: uri },
        link: { uri, name: `flight log ${id}`, mimeType: 'application/octet-stream', size },
      };
    },
  },
  {
    name: 'flight_report',
    title: 'Flight report',
    description: 'What happened in a flight, and what exceeded a limit.',
    toolset: 'flight-logs',
    routes: ['flight-logs.id.report.get', 'tlogs.name.report.get'],
    input: {
      properties: {
        log: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
          'x-says': 'must be a number or the name of a telemetry log',
          description: 'id, or a .tlog',
        },
      },
      required: ['log'],
    },
    output: answerOf('tlogs.name.report.get'),
    idempotent: true,
    run: async ({ ask, args }) => {
      const log = String(args['log']);
      const [route, params] = /^\d+$/.test(log)
        ? (['flight-logs.id.report.get', { id: log }] as const)
        : (['tlogs.name.report.get', { name: log }] as const);
      const timeoutMs = rowOf(route).limits.timeoutMs + 2000;
      return { value: await ask(route, { params, timeoutMs }) };
    },
  },
];
