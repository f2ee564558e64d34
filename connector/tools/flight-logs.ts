import { Denial } from '../denial.ts';
import { asRecord, pathOf, rowOf } from '../rows.ts';
import { reading } from './parts.ts';
import { addressOf, answerOf, type Tool } from './tool.ts';

/** The flight logs of the vehicle; not the node's own log (logs.ts). */
export const flightLogTools: readonly Tool[] = [
  reading(
    {
      name: 'flight_logs_list',
      title: 'Flight logs',
      description: 'The logs on the vehicle: id, size, time, and how much of each the node holds.',
    },
    'flight-logs.get',
    { toolset: 'flight-logs' },
  ),
  {
    name: 'flight_logs_get',
    title: 'One flight log',
    description: 'A link to one log, to be fetched from the node with your credential; Range works.',
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
      const { logs } = asRecord(await ask({ method: 'GET', path: pathOf('flight-logs.get') }));
      const id = Number(args['id']);
      const found = (Array.isArray(logs) ? logs.map(asRecord) : []).find((each) => each['id'] === id);
      if (found === undefined) throw new Denial('not_found', `The vehicle has no log ${id}.`);
      const size = Number(found['size']);
      const uri = addressOf(node) + pathOf('flight-logs.id.get', { id: String(id) });
      return {
        value: { id, size, time: found['time'] ?? null, url: uri },
        link: { uri, name: `flight log ${id}`, mimeType: 'application/octet-stream', size },
      };
    },
  },
  {
    name: 'flight_report',
    title: 'Flight report',
    description:
      'What happened in a flight, and what exceeded a documented limit: of a log of the vehicle (id) or of a telemetry log of the node (tlog).',
    toolset: 'flight-logs',
    routes: ['flight-logs.id.report.get', 'tlogs.name.report.get'],
    input: {
      properties: {
        id: { type: 'integer', minimum: 0, maximum: 65_535 },
        tlog: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
          'x-says': 'must be a file name',
        },
      },
    },
    output: answerOf('tlogs.name.report.get'),
    idempotent: true,
    run: async ({ ask, args: { id, tlog } }) => {
      if ((id === undefined) === (tlog === undefined))
        throw new Denial('invalid_arguments', 'Name one log: id or tlog.');
      const [route, params] =
        typeof tlog === 'string'
          ? (['tlogs.name.report.get', { name: tlog }] as const)
          : (['flight-logs.id.report.get', { id: String(id) }] as const);
      const timeoutMs = rowOf(route).limits.timeoutMs + 2000;
      return { value: asRecord(await ask({ method: 'GET', path: pathOf(route, params), timeoutMs })) };
    },
  },
];
