import { access, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import type { Paths } from '../../shared/paths.ts';

/** For svc-fleet, while it takes none: then what is to be told waits where it is. */
const MAX_WAITING = 256;

/** What svc-fleet tells when the hub is there, a file each (front/fleet/flight-files.ts). */
export class FleetOutbox {
  readonly #paths: Pick<Paths, 'flights' | 'fleet'>;

  constructor(paths: Pick<Paths, 'flights' | 'fleet'>) {
    this.#paths = paths;
  }

  /** Whether the node is in a fleet. */
  async isMember(): Promise<boolean> {
    return access(this.#paths.fleet).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'ENOENT') return false;
        throw error;
      },
    );
  }

  async hasRoom(): Promise<boolean> {
    const names = await readdir(this.#paths.flights).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []; // nothing was told yet
      throw error;
    });
    return names.length < MAX_WAITING;
  }

  /** Resolves when it is on the disk. @param name without an ending; the same one replaces what waits */
  async put(name: string, detail: object): Promise<void> {
    await mkdir(this.#paths.flights, { recursive: true, mode: 0o750 });
    await writeAtomic(join(this.#paths.flights, `${name}.json`), JSON.stringify(detail), 0o640);
  }
}
