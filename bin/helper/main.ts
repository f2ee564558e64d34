/**
 * svc-helper: the only privileged code of the node. It keeps no state and listens only on a Unix socket that one user may open:
 * systemd's socket for the user svc (svc-helper.socket), or its own if a supervisor that runs as root has started it.
 */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import { cardFiles } from '../../shared/first-boot/card-places.ts';
import { LINK_FOLDER } from '../../shared/link-file.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import { installPlaces } from '../../shared/update/install-places.ts';
import { SEARCH_PATH } from './find-program.ts';
import { operationMethods } from './operations.ts';

/** Systemd's units that are gone after a restart of the machine. */
const UNIT_FOLDER = '/run/systemd/system';
/** What wfb-ng reads, for as long as the machine runs; and NetworkManager's run-time configuration. */
const RADIO_FOLDER = '/run/svc-wfb';
const NETWORK_MANAGER = '/run/NetworkManager';
/** The connections of NetworkManager. */
const PROFILE_FOLDER = '/etc/NetworkManager/system-connections';
const SHARED_DNS_FOLDER = '/etc/NetworkManager/dnsmasq-shared.d';
/** The first descriptor that systemd hands over (sd_listen_fds(3)). */
const FIRST_FD = 3;
const MAX_LINE_CHARS = 8192;

/** The socket that systemd listens on for this process, null if it was started in another way. */
function inheritedSocket(env: NodeJS.ProcessEnv): number | null {
  return env['LISTEN_PID'] === String(process.pid) && env['LISTEN_FDS'] === '1' ? FIRST_FD : null;
}

/** A user who can write the folder could replace our socket, and receive the requests to root. */
async function checkFolder(folder: string): Promise<void> {
  const { uid, mode } = await stat(folder);
  if (uid !== 0 && uid !== process.getuid?.())
    throw new Error(`${folder} belongs to user ${uid}. The folder of svc-helper's socket has to be root's.`);
  if ((mode & 0o022) !== 0)
    throw new Error(`${folder} can be written by others. Run: chmod go-w ${folder}, or set SVC_RUN_DIR.`);
}

async function build(log: Logger): Promise<Program> {
  const { values } = parseArgs({ options: { 'idle-ms': { type: 'string', default: '60000' } } });
  const { helperSocket: path } = pathsFrom(process.env);
  const fd = inheritedSocket(process.env);
  if (fd === null) await checkFolder(dirname(path));
  // systemd starts it again with the next request; until then it takes no memory.
  const idle =
    fd === null ? null : setTimeout(() => process.kill(process.pid, 'SIGTERM'), Number(values['idle-ms']));
  const server = new RpcServer({
    path,
    fd,
    mode: 0o600,
    maxLineChars: MAX_LINE_CHARS,
    methods: operationMethods({
      searchPath: process.env['SVC_HELPER_PATH'] ?? SEARCH_PATH,
      unitFolder: process.env['SVC_HELPER_UNIT_DIR'] ?? UNIT_FOLDER,
      radio: {
        folder: process.env['SVC_HELPER_RADIO_DIR'] ?? RADIO_FOLDER,
        networkManager: process.env['SVC_HELPER_NM_DIR'] ?? NETWORK_MANAGER,
        sys: process.env['SVC_HELPER_SYS_DIR'] ?? '/sys',
      },
      profileFolder: process.env['SVC_HELPER_PROFILE_DIR'] ?? PROFILE_FOLDER,
      sharedDnsFolder: process.env['SVC_HELPER_SHARED_DNS_DIR'] ?? SHARED_DNS_FOLDER,
      cards: cardFiles(process.env['SVC_BOOT_FILES']),
      linkFolder: process.env['SVC_LINK_DIR'] ?? LINK_FOLDER,
      install: installPlaces(process.env['SVC_SWITCH_ROOT']),
      log,
      onUse: () => idle?.refresh(),
    }),
    // Whoever has connected is about to ask.
    onConnection: () => idle?.refresh(),
    onError: (error) => log.warn(`request: ${messageOf(error)}`),
  });
  return { services: [named('rpc', server)] };
}

const log = createLogger('svc-helper', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async () => build(log));
