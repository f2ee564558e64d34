import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import type { PluginStatus } from '../../shared/rpc/plugin-unit.ts';
import type { Run } from './find-program.ts';
import { type Machine, type PluginStart, renderDropIn, unitOf } from './plugin-unit.ts';

/** The longest that any call of systemctl takes here; a stop of an extension takes 5 s at most. */
const SYSTEMCTL_MS = 15_000;
const RELOAD_MS = 10_000;
const ASK_MS = 10_000;
/** Names servers that are not on loopback, where systemd-resolved runs. */
const RESOLVED = '/run/systemd/resolve/resolv.conf';

/** The units of extensions: the only place in which svc-helper writes is the folder of systemd's run-time units. */
export class PluginOperations {
  readonly #run: Run;
  readonly #units: string;

  /** @param units the folder of systemd's run-time units */
  constructor(run: Run, units: string) {
    this.#run = run;
    this.#units = units;
  }

  async start(params: PluginStart): Promise<void> {
    const folder = this.#folderOf(params.id);
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await writeAtomic(join(folder, '50-grants.conf'), renderDropIn(params, await thisMachine()), 0o644);
    await this.#reload();
    try {
      await this.#run('systemctl', ['restart', '--', unitOf(params.id)], SYSTEMCTL_MS);
    } catch (error) {
      if (!params.grants.includes('network.outbound')) throw error;
      throw new ApiError(
        'E_UPSTREAM',
        `${messageOf(error)} With network.outbound it starts only where systemd can keep it off loopback (unified control groups with BPF); else revoke that.`,
      );
    }
  }

  async stop(id: string): Promise<void> {
    await this.#run('systemctl', ['stop', '--', unitOf(id)], SYSTEMCTL_MS);
  }

  async status(id: string): Promise<PluginStatus> {
    const properties = '--property=ActiveState,Result,ExecMainStatus,MainPID';
    const text = await this.#run('systemctl', ['show', properties, '--', unitOf(id)], ASK_MS);
    const values = new Map(
      text.split('\n').map((line): [string, string] => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
    return {
      active: values.get('ActiveState') ?? 'unknown',
      result: values.get('Result') ?? 'unknown',
      status: Number(values.get('ExecMainStatus') ?? 0),
      pid: Number(values.get('MainPID') ?? 0),
    };
  }

  async forget(id: string): Promise<void> {
    await this.stop(id);
    // A unit that has failed is not taken for one that is inactive; one that has not is none to be reset.
    await this.#run('systemctl', ['reset-failed', '--', unitOf(id)], ASK_MS).catch(() => undefined);
    await this.#run('systemctl', ['clean', '--what=state', '--', unitOf(id)], SYSTEMCTL_MS);
    await rm(this.#folderOf(id), { recursive: true, force: true });
    await this.#reload();
  }

  #folderOf(id: string): string {
    return join(this.#units, `${unitOf(id)}.d`);
  }

  async #reload(): Promise<void> {
    await this.#run('systemctl', ['daemon-reload'], RELOAD_MS);
  }
}

/** At the root: what an extension needs, and what its unit hides already. */
const KNOWN_ROOTS =
  /^(?:bin|sbin|lib\d*|libx32|usr|dev|proc|sys|boot|etc|home|media|mnt|opt|root|run|srv|tmp|var|data|extension)$/;
/** Whatever else a name has could mean something in a unit. */
const PLAIN_NAME = /^[A-Za-z0-9._+-]+$/;

async function thisMachine(): Promise<Machine> {
  const text = await readFile('/etc/group', 'utf8');
  const resolved = await access(RESOLVED).then(
    () => true,
    () => false, // systemd-resolved does not run
  );
  return {
    node: process.execPath,
    groups: new Set(text.split('\n').map((line) => line.split(':', 1)[0] ?? '')),
    foreignRoots: (await readdir('/'))
      .filter((name) => !KNOWN_ROOTS.test(name) && PLAIN_NAME.test(name))
      .map((name) => `/${name}`),
    resolvConf: resolved ? RESOLVED : '/etc/resolv.conf',
  };
}
