import { access, rm } from 'node:fs/promises';
import { loadConfig } from '../../../shared/config/load.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { withLock } from '../../../shared/files/lock.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { removeDurably } from '../../../shared/files/remove-durably.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';

/** Delay, so that the answer goes out before this process ends. */
const PARTING_MS = 200;

/** Sections and keys of the config that stay: what this machine is, and where it answers. */
const STAYS = [
  ['agent', 'profile'],
  ['api', 'host'],
  ['api', 'port'],
  ['api', 'tls_port'],
  ['api', 'tls_cert'],
  ['api', 'tls_key'],
] as const;

const KEPT = [
  'device id, profile and the address of the API',
  'recordings and pictures',
  'maps',
  'logs',
  'audit',
  'extensions and their settings',
  'MAVLink signing keys',
  'networks and hotspot that NetworkManager has saved',
] as const;

/**
 * `removing`: not everything is removed yet. `restarting`: it is, but the processes still have the old config, and may write what
 * they hold when they stop.
 */
type Phase = 'removing' | 'restarting';

interface FactoryResetOptions {
  readonly paths: Paths;
  /** Restarts the whole node. */
  readonly restart: () => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Makes a ground station what it was before anybody owned it. Written down first: one that was killed in the middle ends at the next
 * start of svc-control, before anything reads those files.
 */
export class FactoryReset {
  readonly #options: FactoryResetOptions;
  #interrupted = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: FactoryResetOptions) {
    this.#options = options;
  }

  /** Ends a reset that was begun. @throws Error if the files cannot be removed */
  async complete(): Promise<void> {
    const { paths, log } = this.#options;
    const text = await readPrivate(paths.factoryReset);
    if (text === null) return;
    this.#interrupted = !text.includes('restarting' satisfies Phase);
    await this.#remove();
    if (this.#interrupted) await this.#mark('restarting');
    else await rm(paths.factoryReset, { force: true });
    log.warn('factory reset: everything is removed');
  }

  /** After an interrupted one: the other processes have read the old config. */
  start(): void {
    if (this.#interrupted) this.#restartSoon();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /**
   * @param confirm what the caller says is the node's own id
   * @throws ApiError E_INVALID_VALUE for another id; E_STORE if something could not be removed: the next start tries again
   */
  async begin(confirm: string, deviceId: string): Promise<MadeAnswer<'ground-station.factory-reset.post'>> {
    const { log } = this.#options;
    if (confirm !== deviceId) {
      const message = 'is not the device id of this ground station; GET /api/pairing/info tells it';
      throw new ApiError('E_INVALID_VALUE', `confirm ${message}. Nothing was changed.`, {
        errors: [{ path: '/confirm', message }],
      });
    }
    await this.#mark('removing').catch((error: unknown) => {
      throw new ApiError('E_STORE', `The reset could not start: ${messageOf(error)}. Nothing was changed.`);
    });
    log.warn('factory reset: begun');
    try {
      const removed = await this.#remove();
      await this.#mark('restarting');
      this.#restartSoon();
      return { device_id: confirm, removed, kept: KEPT, restarting: true };
    } catch (error) {
      throw new ApiError(
        'E_STORE',
        `The reset has begun, and not everything could be removed: ${messageOf(error)}. It goes on when the node starts again.`,
      );
    }
  }

  /** @returns what there was of it, in words */
  async #remove(): Promise<readonly string[]> {
    const { paths } = this.#options;
    const groups: readonly (readonly [string, readonly string[]])[] = [
      ['pairing', [paths.pairing, `${paths.pairing}.bak`]],
      ['PIN', [paths.dashboardPin]],
      ['certificate authority', [paths.tlsAuthority, paths.tlsLeaf]],
      ['sessions', [paths.sessions]],
      ['tokens', [paths.mcpToken]],
      ['bound radios and their keys', [paths.radioPairs, paths.radioKeys, paths.radioChange]],
      [
        'place in a fleet',
        [
          paths.fleet,
          paths.fleetPolicy,
          paths.fleetTurn,
          paths.fleetQueue,
          `${paths.fleetQueue}-wal`,
          `${paths.fleetQueue}-shm`,
          paths.flights,
        ],
      ],
      ['active drone', [paths.activeDrone]],
      ['screens and buttons', [paths.groundUi]],
      ['order of uplinks and mesh', [paths.network]],
      ['access points and PINs of modems', [paths.modems]],
      ['marks of the set-up', [paths.setup, paths.firstBoot, paths.setupHotspot]],
    ];
    const removed: string[] = [];
    for (const [name, files] of groups) {
      let found = false;
      for (const file of files) {
        found ||= await exists(file);
        await rm(file, { recursive: true, force: true });
      }
      if (found) removed.push(name);
    }
    await this.#resetConfig();
    return [...removed, 'config'];
  }

  /** Secrets would stay in the last good copy, and in what was checked. */
  async #resetConfig(): Promise<void> {
    const { paths } = this.#options;
    const { Document, parseDocument } = await import('yaml');
    await withLock(`${paths.config}.lock`, async () => {
      const { config, text } = await loadConfig(paths);
      const old = parseDocument(text ?? '');
      const next = new Document({ agent: { profile: config.agent.profile } });
      for (const path of STAYS) if (old.hasIn(path)) next.setIn(path, old.getIn(path));
      const content = next.toString();
      await writeAtomic(paths.config, content, 0o600);
      await writeAtomic(paths.configLastGood, content, 0o600);
      await removeDurably(paths.configChecked);
    });
  }

  async #mark(phase: Phase): Promise<void> {
    await writeAtomic(this.#options.paths.factoryReset, `${JSON.stringify({ version: 1, phase })}\n`, 0o600);
  }

  /** Tries until the supervisor answers; this process ends then. */
  #restartSoon(): void {
    const { restart, log } = this.#options;
    this.#timer = setTimeout(() => {
      restart().catch((error: unknown) => {
        log.error(`factory reset: the node does not restart: ${messageOf(error)}`);
        this.#restartSoon();
      });
    }, PARTING_MS);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
