/**
 * The updater: svc-update.service runs it, as root. It installs the bundle that svc-helper or root on the node has put there, goes
 * on with an update that was cut off, and judges a version that is on trial. svc-switch runs it with `keep` and `restore`, for the
 * files of the node.
 */
import { stat } from 'node:fs/promises';
import { messageOf } from '../../../shared/errors.ts';
import { takePidLock } from '../../../shared/files/pid-lock.ts';
import { type Paths, pathsFrom } from '../../../shared/paths.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { type InstallPlaces, installPlaces } from '../../../shared/update/install-places.ts';
import { ARCHES } from '../../../shared/update/manifest.ts';
import { type AsNode, copyState, restoreState } from '../../../shared/update/state-copy.ts';
import { programRunner, SEARCH_PATH } from '../find-program.ts';
import { NodeHealth } from './node-health.ts';
import { Updater } from './updater.ts';

const HEALTH_MS = 60_000;
const HOLD_MS = 5000;
const TRIAL_MS = 300_000;
const POLL_MS = 500;
/** Node's names of the machines, as Debian calls them. */
const ARCH_OF: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const log = createLogger('svc-update', process.env['SVC_LOG_LEVEL']);
const places = installPlaces(process.env['SVC_SWITCH_ROOT']);
const paths = pathsFrom(process.env);

/** The user of the node is the owner of its state; back to root afterwards. */
function asNodeOf({ uid, gid }: { readonly uid: number; readonly gid: number }): AsNode {
  return async (work) => {
    const { setgroups, setegid, seteuid } = process;
    if (process.getuid?.() !== 0 || uid === 0 || !setgroups || !setegid || !seteuid) return work();
    setgroups([]);
    setegid(gid);
    seteuid(uid);
    try {
      return await work();
    } finally {
      seteuid(0);
      setegid(0);
    }
  };
}

async function state(verb: 'keep' | 'restore', { state: folder }: InstallPlaces, of: Paths): Promise<void> {
  const owner = await stat(of.state).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null; // the node has never run
    throw error;
  });
  if (owner === null) return;
  const asNode = asNodeOf(owner);
  if (verb === 'keep') await copyState(of, folder, asNode);
  else for (const problem of await restoreState(of, folder, asNode)) log.warn(problem);
}

async function update(): Promise<void> {
  const arch = ARCHES.find((name) => name === ARCH_OF[process.arch]);
  if (arch === undefined) throw new Error(`There is no version for ${process.arch}.`);
  const release = takePidLock(places.lock);
  if (release === null) return; // another updater is at it
  try {
    await new Updater({
      places,
      upload: paths.updateUpload,
      arch,
      health: new NodeHealth(paths.controlSocket),
      healthMs: Number(process.env['SVC_UPDATE_HEALTH_MS'] ?? HEALTH_MS),
      holdMs: Number(process.env['SVC_UPDATE_HOLD_MS'] ?? HOLD_MS),
      trialMs: Number(process.env['SVC_UPDATE_TRIAL_MS'] ?? TRIAL_MS),
      pollMs: POLL_MS,
      run: programRunner(process.env['SVC_HELPER_PATH'] ?? SEARCH_PATH, process.env),
      monotonic: () => performance.now(),
      now: Date.now,
      log,
    }).run();
  } finally {
    release();
  }
}

const [verb] = process.argv.slice(2);
process.umask(0o022);
try {
  if (verb === 'keep' || verb === 'restore') await state(verb, places, paths);
  else await update();
} catch (error) {
  log.error(messageOf(error));
  process.exitCode = 1;
}
