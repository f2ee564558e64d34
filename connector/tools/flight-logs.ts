import { Denial } from '../denial.ts';
import { asRecord, pathOf } from '../rows.ts';
import { reading } from './parts.ts';
import { addressOf, type Tool } from './tool.ts';

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
    description: 'A link to one log, for your own credential; Range works.',
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
];
