import { join } from 'node:path';

/** What belongs to root on an installed node: the versions, and what the switch between them needs (deploy/svc-switch). */
export interface InstallPlaces {
  /** The folders of the installed versions, by their version; one is complete, or not there. */
  readonly versions: string;
  /** A link to the version that runs. */
  readonly current: string;
  readonly svcSwitch: string;
  /** Whatever only root may read or change: the copy of a bundle, the trial, the floor. */
  readonly keep: string;
  /** The highest `security_floor` that was ever installed, a line of text. */
  readonly floor: string;
  /** `FROM TO STATE` while a version is on trial. */
  readonly trial: string;
  /** `FROM TO` of the last trial that failed. */
  readonly returned: string;
  /** The version before the one that runs. */
  readonly previous: string;
  /** Copies of files of the node, as they were before the version that is on trial ran (shared/update/state-copy.ts). */
  readonly state: string;
  /** The bundle that is being installed. */
  readonly bundle: string;
  /** How it is to be installed (bin/helper/update/job.ts). */
  readonly job: string;
  /** How far the updater is, or how it ended (bin/helper/update/progress.ts). */
  readonly progress: string;
  /** Held by the updater while it runs. */
  readonly lock: string;
  /** Public keys of minisign, `*.pub`: who may sign a bundle. */
  readonly keys: string;
}

/** @param root a folder in place of `/`, for tests */
export function installPlaces(root = '/'): InstallPlaces {
  const opt = join(root, 'opt/svc');
  const keep = join(root, 'var/lib/svc-update');
  return {
    versions: join(opt, 'versions'),
    current: join(opt, 'current'),
    svcSwitch: join(opt, 'svc-switch'),
    keep,
    floor: join(keep, 'floor'),
    trial: join(keep, 'trial'),
    returned: join(keep, 'returned'),
    previous: join(keep, 'previous'),
    state: join(keep, 'state'),
    bundle: join(keep, 'bundle'),
    job: join(keep, 'job.json'),
    progress: join(keep, 'progress.json'),
    lock: join(keep, 'updater.lock'),
    keys: join(root, 'etc/svc/update-keys'),
  };
}
