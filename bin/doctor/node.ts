import { access, constants } from 'node:fs/promises';
import { ApiError, codeOf, messageOf } from '../../shared/errors.ts';
import type { Answer as RowAnswer } from '../../shared/routes/typed-row.ts';
import type { Asker } from '../client/local-client.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';

/** Checks by the status of the running node. */

type Status = RowAnswer<'status.full.get'>;
export type Answer =
  | { readonly status: Status }
  | { readonly status: null; readonly problem: string; readonly why: 'down' | 'ill' | 'closed to you' };

/**
 * The node's full status, or why there is none.
 * @param socket the Unix socket for the request; null if it goes over the network
 */
export async function askNode(api: Asker, socket: string | null): Promise<Answer> {
  try {
    return { status: await api('GET /api/status/full') };
  } catch (error) {
    const problem = messageOf(error);
    if (socket !== null && (await isClosed(socket))) return { status: null, problem, why: 'closed to you' };
    const isDown = error instanceof ApiError && error.code === 'E_UPSTREAM_DOWN';
    return { status: null, problem, why: isDown ? 'down' : 'ill' };
  }
}

async function isClosed(socket: string): Promise<boolean> {
  return access(socket, constants.W_OK).then(
    () => false,
    (error: unknown) => codeOf(error) === 'EACCES', // with another error the permission is not the cause
  );
}

export function checkAnswer(answer: Answer): readonly Check[] {
  if (answer.status === null) {
    if (answer.why === 'closed to you') return [skip('node', answer.problem)];
    return [
      fail(
        'node',
        answer.problem,
        answer.why === 'down'
          ? 'Start it: `sudo systemctl start svc`, or `npm start`. The other checks use its files.'
          : 'It runs but does not answer properly: `sudo systemctl restart svc`.',
      ),
    ];
  }
  const { status } = answer;
  return [
    ok('node', `It answers, version ${status.version}, up ${status.uptime_seconds} s.`),
    ...processes(status.services),
    flightController(status),
    ...linkProblems(status.link_problems ?? []),
  ];
}

/** The advice for each problem. */
const REMEDIES: Readonly<Record<string, string>> = {
  endpoint_closed: 'See who holds the port: `ss -lntup`. Or give it another one in mavlink.endpoints.',
  no_active_drone: 'Choose one: `svc gs drones --use DEVICE`.',
  source_is_own_endpoint: 'Change mavlink.source or mavlink.endpoints: `svc config set`.',
  signing_lost:
    'Enrol the key of the vehicle again (POST /api/mavlink/signing/enroll-fc), or end signing over USB.',
  source_loops: 'Change mavlink.source or mavlink.endpoints: `svc config set`.',
};

function linkProblems(found: NonNullable<Status['link_problems']>): readonly Check[] {
  return found.map(({ code, detail }) =>
    warn(code.replaceAll('_', ' '), detail, REMEDIES[code] ?? 'See `svc logs query --source svc-link`.'),
  );
}

export async function checkLogStore(api: Asker): Promise<Check> {
  const name = 'log store';
  return api('GET /api/logs/stats').then(
    () => ok(name, 'It answers.'),
    (error: unknown) => warn(name, messageOf(error), 'See `svc services list`; svc-residual keeps it.'),
  );
}

/** Whether the page was built. Asked by HEAD, since a page is no JSON. */
export async function checkPage(api: Asker): Promise<Check> {
  const name = 'page';
  return api('GET /', { isHead: true }).then(
    () => ok(name, 'It is there.'),
    (error: unknown) =>
      warn(
        name,
        `Browsers get no page: ${messageOf(error)}`,
        'In a checkout: npm run build:web. Installed: install the package again.',
      ),
  );
}

function processes(found: Status['services']): readonly Check[] {
  return found.filter(({ kind }) => kind === 'process').map(process);
}

function process(each: Status['services'][number]): Check {
  const { name, state, restarts, last_exit: exit, last_words: words, restart_required: waiting } = each;
  const last = words.at(-1) ?? 'no last words';
  const title = `process ${name}`;
  if (state === 'parked' || state === 'stopped')
    return fail(
      title,
      `It is ${state}: ended with ${String(exit)}: ${last}`,
      `Repair the cause, then: svc services restart ${name}`,
    );
  if (waiting.length > 0)
    return warn(
      title,
      `It keeps ${waiting.join(', ')} as when the vehicle armed.`,
      `Once disarmed: svc services restart ${name}`,
    );
  if (state !== 'running') return warn(title, `It is ${state}.`, 'Look again in a few seconds.');
  return restarts !== null && restarts > 3
    ? warn(
        title,
        `It runs, after ${restarts} restarts; the last ended with ${String(exit)}: ${last}`,
        `svc logs query --source ${name} --level error`,
      )
    : ok(title, 'It runs.');
}

function flightController(status: Status): Check {
  const name = 'flight controller';
  if (status.fc_connected)
    return ok(name, `Firmware ${String(status.fc_firmware)} speaks on ${String(status.fc_port)}.`);
  if (status.profile === 'ground-station') return skip(name, 'None was received over the radio.');
  return warn(
    name,
    `None: ${String(status.fc_link_hint)}, source ${String(status.fc_source)}.`,
    'Check cable and power, and mavlink.source in the config.',
  );
}
