import { chmod, mkdir, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { chunksOf } from '../../../shared/async/chunks.ts';
import { deferred } from '../../../shared/async/deferred.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { fillAtomic } from '../../../shared/files/atomic-write.ts';
import { refusesWhile } from '../../../shared/flight/armed.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { coreRows } from '../../../shared/routes/core.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { UpdateStatus } from '../../../shared/schemas/update.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

/** After which an upload of which nothing comes is given up. */
const IDLE_MS = 20_000;
/** Left for the others that write to this disk. */
const RESERVE_BYTES = 64 * 1024 * 1024;

interface UpdateDeps {
  readonly version: string;
  readonly helper: Helper;
  readonly vehicle: VehicleView;
  /** Where a bundle is put for svc-helper. */
  readonly upload: string;
  readonly log: Logger;
}

type UpdateHandlers = Pick<HandlersOf<typeof coreRows, 'front'>, 'system.update.get' | 'system.update.post'>;

const WORKING: ReadonlySet<UpdateStatus['step']> = new Set<UpdateStatus['step']>([
  'verifying',
  'unpacking',
  'switching',
  'checking',
]);

/** An upload that is coming in. */
interface Incoming {
  readonly body: Readable;
  /** Resolves when nothing of it is left but its answer. */
  readonly over: Promise<void>;
}

export function updateHandlers({ version, helper, vehicle, upload, log }: UpdateDeps): UpdateHandlers {
  let newest: Incoming | null = null;
  const refuseWhileUpdating = async (): Promise<void> => {
    const { step } = await helper.update_status({});
    if (WORKING.has(step)) throw new ApiError('E_BUSY', `An update is under way (${step}).`);
  };
  const receive = async (body: Readable, length: number, force: boolean): Promise<void> => {
    await store(body, upload, length);
    try {
      // The edge checked this too, but a long upload ago.
      if (!force && refusesWhile(vehicle.anyArmed))
        throw new ApiError('E_ARMED', undefined, { armed: vehicle.anyArmed });
      await helper.update_start({ force });
    } catch (error) {
      await rm(upload, { force: true });
      throw error;
    }
    log.info('update: a bundle has come, and is being installed');
  };
  return {
    'system.update.get': async () =>
      helper.update_status({}).catch((error: unknown): UpdateStatus => {
        if (!(error instanceof ApiError) || error.code !== 'E_NOT_IMPLEMENTED') throw error;
        // Not an installed one: a checkout, which is updated by other means.
        return { running: version, previous: null, step: 'idle', percent: null, error: null };
      }),

    'system.update.post': async ({ body, headers, forced }) => {
      if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0)
        throw noBody();
      // Before the body: nobody should send 100 MiB for a refusal.
      await refuseWhileUpdating();
      body.on('error', () => undefined); // told to whoever reads it, now or later
      const before = newest;
      const { promise: over, resolve } = deferred();
      newest = { body, over };
      try {
        // One that is behind a dead link would keep the others out. Complete, it is installed: then this one is refused below.
        before?.body.destroy(
          new ApiError(
            'E_STOPPED',
            'Another upload has taken the place of this one. Nothing of it was kept.',
          ),
        );
        await before?.over;
        if (before !== null) await refuseWhileUpdating();
        await receive(body, Number(headers['content-length'] ?? 0), forced);
      } finally {
        if (newest.body === body) newest = null;
        resolve();
      }
      return new Reply(202, await helper.update_status({}));
    },
  };
}

/** Completely or not at all. @throws ApiError E_DISK_FULL, E_STORE, E_BAD_REQUEST; what the body fails with */
async function store(body: Readable, file: string, length: number): Promise<void> {
  let size = 0;
  const late = (): void => void body.destroy(standsStill());
  const counted = async function* (): AsyncGenerator<Buffer> {
    let timer = setTimeout(late, IDLE_MS);
    try {
      for await (const chunk of chunksOf(body)) {
        clearTimeout(timer); // the disk may take longer
        size += chunk.length;
        yield chunk;
        timer = setTimeout(late, IDLE_MS);
      }
    } finally {
      clearTimeout(timer);
    }
    if (size === 0) throw noBody();
  };
  try {
    await mkdir(dirname(file), { recursive: true });
    await chmod(dirname(file), 0o750); // independent of the umask
    const { bavail, bsize } = await statfs(dirname(file));
    if (length + RESERVE_BYTES > bavail * bsize) throw full();
    // The updater, of the same group, takes it over and empties it.
    await fillAtomic(file, async (handle) => handle.writeFile(counted()), 0o660);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (codeOf(error) === 'ENOSPC') throw full();
    throw new ApiError('E_STORE', `The bundle could not be stored: ${messageOf(error)}.`);
  }
}

function standsStill(): ApiError {
  return new ApiError(
    'E_REQUEST_TIMEOUT',
    `Nothing of the bundle has come for ${IDLE_MS / 1000} s. Nothing of it was kept: send it again.`,
  );
}

function noBody(): ApiError {
  return new ApiError('E_BAD_REQUEST', 'Send the bundle as the body of the request.');
}

function full(): ApiError {
  return new ApiError('E_DISK_FULL', 'No room for the bundle. Delete recordings or logs.');
}
