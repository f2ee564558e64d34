import { createServer } from 'node:net';
import { ApiError } from '../../shared/errors.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';

/** What the running node says of itself. */

type Api = (method: string, path: string) => Promise<unknown>;
type Json = Readonly<Record<string, unknown>>;

const HOT_C = 80;

/** @param port where its API listens, for the case that no node answers */
export async function checkNode(api: Api, port: number): Promise<readonly Check[]> {
  let status: Json;
  try {
    status = (await api('GET', '/api/status/full')) as Json;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [
      fail('node', error.message, 'Start it: `sudo systemctl start svc`, or `npm start`.'),
      await portCheck(port),
    ];
  }
  const logs = await api('GET', '/api/logs/stats').then(
    () => ok('log store', 'It answers.'),
    (error: unknown) => warn('log store', String(error), 'See `svc services list`; svc-residual keeps it.'),
  );
  return [
    ok('node', `It answers, version ${String(status['version'])}, up ${String(status['uptime_seconds'])} s.`),
    ...processes(status['services']),
    flightController(status),
    temperature(status['health']),
    logs,
  ];
}

async function portCheck(port: number): Promise<Check> {
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
  return free
    ? ok('API port', `${port} is free.`)
    : fail(
        'API port',
        `Another program listens on ${port}, or you may not.`,
        'Stop that one, or set api.port.',
      );
}

function processes(list: unknown): readonly Check[] {
  const found = Array.isArray(list) ? (list as readonly Json[]) : [];
  return found.flatMap((each): readonly Check[] => {
    const { name, state, restarts, last_exit: exit, last_words: words } = each;
    const last = Array.isArray(words) ? String(words.at(-1) ?? 'no last words') : 'no last words';
    const title = `process ${String(name)}`;
    if (each['kind'] !== 'process') return [];
    if (state === 'parked' || state === 'stopped')
      return [
        fail(
          title,
          `It is ${state}: ended with ${String(exit)}: ${last}`,
          `Mend the cause, then: svc services restart ${String(name)}`,
        ),
      ];
    if (state !== 'running') return [warn(title, `It is ${String(state)}.`, 'Look again in a few seconds.')];
    return Number(restarts) > 3
      ? [
          warn(
            title,
            `It runs, after ${String(restarts)} restarts; the last ended with ${String(exit)}: ${last}`,
            `svc logs query --source ${String(name)} --level error`,
          ),
        ]
      : [ok(title, 'It runs.')];
  });
}

function flightController(status: Json): Check {
  const name = 'flight controller';
  if (status['fc_connected'] === true)
    return ok(name, `Firmware ${String(status['fc_firmware'])} speaks on ${String(status['fc_port'])}.`);
  if (status['profile'] === 'ground-station') return skip(name, 'None is heard over the radio.');
  return warn(
    name,
    `None: ${String(status['fc_link_hint'])}, source ${String(status['fc_source'])}.`,
    'Check cable and power, and mavlink.source in the config.',
  );
}

function temperature(health: unknown): Check {
  const value = typeof health === 'object' && health !== null ? (health as Json)['temperature'] : null;
  if (typeof value !== 'number') return skip('temperature', 'This machine does not tell.');
  return value >= HOT_C
    ? warn('temperature', `${value} C.`, 'It slows itself down soon: give it air.')
    : ok('temperature', `${value} C.`);
}
