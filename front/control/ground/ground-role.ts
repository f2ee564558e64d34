import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import {
  GROUND_ROLES,
  type GroundRoleName,
  type groundRole,
} from '../../../shared/schemas/ground-station.ts';
import type { Made } from '../../../shared/schemas/made.ts';

const ASK_MS = 2000;
const MESH_INTERFACE = 'bat0';

interface GroundRoleOptions {
  /** From the config. */
  readonly configured: GroundRoleName;
  readonly sysDir: string;
  /** Writes the config. */
  readonly keep: (role: GroundRoleName) => Promise<unknown>;
}

type GroundRoleState = Made<typeof groundRole>;

/** The part of a ground station among others. Not tested on hardware: batman-adv is needed for all but `direct`. */
export class GroundRole {
  readonly #options: GroundRoleOptions;
  #configured: GroundRoleName;

  constructor(options: GroundRoleOptions) {
    this.#options = options;
    this.#configured = options.configured;
  }

  async state(): Promise<GroundRoleState> {
    const missing = await this.#missing();
    const up = missing === null && (await this.#has(`class/net/${MESH_INTERFACE}`));
    return {
      role: up ? this.#configured : 'direct',
      configured: this.#configured,
      supported: missing === null ? GROUND_ROLES : ['direct'],
      mesh_capable: missing === null,
      missing,
    };
  }

  /** @throws ApiError E_NOT_IMPLEMENTED (extra `missing`) where there can be no mesh, E_STORE */
  async change(
    role: GroundRoleName,
  ): Promise<GroundRoleState & { readonly previous: GroundRoleName; readonly noop: boolean }> {
    const previous = this.#configured;
    const missing = role === 'direct' ? null : await this.#missing();
    if (missing !== null) {
      const what = missing === 'batctl' ? 'program batctl' : "kernel's module batman-adv";
      throw new ApiError(
        'E_NOT_IMPLEMENTED',
        `The role ${role} needs a mesh, and this machine does not have the ${what}. Install it, or stay direct.`,
        { missing, feature: 'ground-station' },
      );
    }
    if (role !== previous) await this.#options.keep(role);
    this.#configured = role;
    return { ...(await this.state()), previous, noop: role === previous };
  }

  async #missing(): Promise<string | null> {
    if (!(await this.#has('module/batman_adv'))) return 'batman-adv';
    return runProgram('batctl', ['-v'], ASK_MS).then(
      () => null,
      () => 'batctl',
    );
  }

  async #has(path: string): Promise<boolean> {
    return access(join(this.#options.sysDir, path)).then(
      () => true,
      () => false,
    );
  }
}
