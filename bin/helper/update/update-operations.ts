import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { isPidLocked } from '../../../shared/files/pid-lock.ts';
import type { UpdateStatus } from '../../../shared/schemas/update.ts';
import type { InstallPlaces } from '../../../shared/update/install-places.ts';
import type { Run } from '../find-program.ts';
import type { Job } from './job.ts';
import { isUpdating, readProgress, runningVersion, updateStatus, writeProgress } from './progress.ts';

const SYSTEMCTL_MS = 15_000;
const BEGIN_MS = 10_000;
const POLL_MS = 50;
const UNIT = 'svc-update.service';

/** Starts the updater, a unit of its own: it outlives this process, and the restart of the node. */
export class UpdateOperations {
  readonly #run: Run;
  readonly #places: InstallPlaces;

  constructor(run: Run, places: InstallPlaces) {
    this.#run = run;
    this.#places = places;
  }

  /** @throws ApiError E_NOT_IMPLEMENTED, E_BUSY */
  async start({ force }: { readonly force: boolean }): Promise<void> {
    await startUpdate(this.#run, this.#places, { force, by_root: false }, async () =>
      rm(this.#places.bundle, { force: true }),
    );
  }

  /** @throws ApiError E_NOT_IMPLEMENTED */
  async status(): Promise<UpdateStatus> {
    const status = await updateStatus(this.#places);
    if (status === null) throw notInstalled();
    return status;
  }
}

/**
 * Resolves when the updater has begun.
 * @param bring puts the bundle where the updater looks for it
 * @throws ApiError E_NOT_IMPLEMENTED, E_BUSY; E_UPSTREAM of systemd
 */
export async function startUpdate(
  run: Run,
  places: InstallPlaces,
  job: Job,
  bring: () => Promise<unknown>,
): Promise<void> {
  if ((await runningVersion(places)) === null) throw notInstalled();
  if (await isUpdating(places))
    throw new ApiError('E_BUSY', 'An update is under way already. GET /api/v1/system/update shows it.');
  await bring();
  await writeAtomic(places.job, JSON.stringify(job));
  // So that nobody takes the end of the last update for that of this one.
  await writeProgress(places, { step: 'verifying', percent: 0, error: null, version: null });
  await run('systemctl', ['start', '--no-block', '--', UNIT], SYSTEMCTL_MS);
  const deadline = performance.now() + BEGIN_MS;
  while (!isPidLocked(places.lock)) {
    if ((await readProgress(places))?.step !== 'verifying') return; // over already
    if (performance.now() > deadline)
      throw new ApiError('E_UPSTREAM', `${UNIT} has not begun within ${BEGIN_MS / 1000} s.`);
    await delay(POLL_MS);
  }
}

function notInstalled(): ApiError {
  return new ApiError(
    'E_NOT_IMPLEMENTED',
    'This node is not an installed one: update it as it was brought here (git, npm), or install the package.',
    { missing: 'package' },
  );
}
