import { readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { isPidLocked } from '../../../shared/files/pid-lock.ts';
import { UPDATE_STEPS, type UpdateStatus } from '../../../shared/schemas/update.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';
import type { InstallPlaces } from '../../../shared/update/install-places.ts';
import { readJson, readText } from './json-file.ts';

type Step = (typeof UPDATE_STEPS)[number];

/** What the updater says of itself. */
export interface Progress {
  readonly step: Step;
  readonly percent: number | null;
  readonly error: string | null;
  /** The version that is being installed; null before its manifest was read. */
  readonly version: string | null;
}

const checkProgress = validatorOf({
  type: 'object',
  required: ['step', 'percent', 'error', 'version'],
  properties: {
    step: { enum: UPDATE_STEPS },
    percent: { type: ['number', 'null'] },
    error: { type: ['string', 'null'] },
    version: { type: ['string', 'null'] },
  },
});

const WORKING: ReadonlySet<Step> = new Set<Step>(['verifying', 'unpacking', 'switching', 'checking']);

export async function writeProgress({ progress: file }: InstallPlaces, progress: Progress): Promise<void> {
  await writeAtomic(file, JSON.stringify(progress));
}

/** What the updater has said last. @throws Error as `readJson` */
export async function readProgress({ progress }: InstallPlaces): Promise<Progress | null> {
  return readJson<Progress>(progress, checkProgress);
}

/** The version that `current` names; null where none is installed. */
export async function runningVersion({ current }: InstallPlaces): Promise<string | null> {
  return readlink(current).then(basename, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EINVAL') return null;
    throw error;
  });
}

export interface Trial {
  readonly from: string;
  readonly to: string;
  /** `ready` to be started, `started`, or `well` since. */
  readonly state: string;
  /** Seconds without a restart of any process, summed over starts of the machine. */
  readonly quietS: number;
  /** How many processes have failed. */
  readonly restarts: number;
}

/** The version that is on trial. */
export async function readTrial({ trial }: InstallPlaces): Promise<Trial | null> {
  const [from, to, state, , , quiet = '0', restarts = '0'] = (await readText(trial))?.split(' ') ?? [];
  return from === undefined || to === undefined || state === undefined
    ? null
    : { from, to, state, quietS: Number(quiet), restarts: Number(restarts) };
}

/** From `returned`: which version did not stay; null if the last trial went well. */
export async function readReturned({ returned }: InstallPlaces): Promise<string | null> {
  return (await readText(returned))?.split(' ')[1] ?? null;
}

export function notStayed(from: string | null, to: string): string {
  return `Version ${to} did not come up as it should, so ${from ?? 'the one before'} runs again.`;
}

/** Whether an update is under way: the updater works, or a version is on trial. */
export async function isUpdating(places: InstallPlaces): Promise<boolean> {
  return isPidLocked(places.lock) || (await readTrial(places)) !== null;
}

/**
 * How far an update is, or how the last one ended, also where the updater was killed and others have ended its work.
 * @returns null where nothing is installed
 */
export async function updateStatus(places: InstallPlaces): Promise<UpdateStatus | null> {
  const running = await runningVersion(places);
  if (running === null) return null;
  const before = await readText(places.previous);
  const previous =
    before !== null && before !== running && (await isInstalled(places, before)) ? before : null;
  const { step, percent, error } = await settled(places, running);
  return { running, previous, step, percent, error };
}

async function settled(places: InstallPlaces, running: string): Promise<Omit<Progress, 'version'>> {
  const said = await readProgress(places);
  if (said !== null && isPidLocked(places.lock)) return said;
  if ((await readTrial(places)) !== null) return { step: 'checking', percent: null, error: null };
  const returned = await readReturned(places);
  if (returned !== null && said?.step !== 'returned' && said?.step !== 'failed')
    return { step: 'returned', percent: null, error: notStayed(running, returned) };
  if (said === null) return { step: 'idle', percent: null, error: null };
  if (!WORKING.has(said.step)) return said;
  if (said.version === running) return { step: 'done', percent: null, error: null };
  return {
    step: 'failed',
    percent: null,
    error: 'The update was cut off. Nothing was changed: send it again.',
  };
}

async function isInstalled({ versions }: InstallPlaces, version: string): Promise<boolean> {
  return readText(join(versions, version, 'package.json')).then(
    (text) => text !== null,
    () => false, // no folder
  );
}
