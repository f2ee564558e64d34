import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import {
  type AgentHalf,
  type Manifest,
  parseManifest,
  requestedPermissions,
} from '../../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { Extension } from './extension.ts';
import { integrityProblem } from './install/attestation.ts';
import type { Checked, Installer } from './install/installer.ts';
import { ExtensionCamera } from './ipc/extension-camera.ts';
import { ExtensionDetections } from './ipc/extension-detections.ts';
import { ExtensionLimits } from './ipc/extension-limits.ts';
import { ExtensionTelemetry } from './ipc/extension-telemetry.ts';
import type { Hosted, NodeServices } from './ipc/hosted.ts';
import { Methods } from './ipc/methods.ts';
import { Published } from './ipc/published.ts';
import { launchOf, type Places, shapesSandbox } from './launch.ts';
import { olderSettings } from './older-settings.ts';
import { checkReplaces, grantedOf, granting, type InstallRecord, isOn } from './record.ts';
import type { Sandbox, SandboxSpec } from './sandbox/types.ts';
import { PluginSettings } from './settings.ts';
import { notInstalled, type PluginStore } from './store.ts';

const MAX_WAITING = 32;

export interface LifecycleOptions {
  readonly store: PluginStore;
  readonly installer: Installer;
  /** Null: this machine has nothing to run extensions in. */
  readonly sandbox: Sandbox | null;
  readonly services: NodeServices;
  readonly places: Omit<Places, 'install'> & {
    /** Where svc-video looks for the cameras of extensions. */
    readonly cameras: string;
  };
  /** The folder of their settings. */
  readonly settings: string;
  /** An extension has ended: whatever was open to it is of no use. */
  readonly onEnded: (id: string) => void;
  /** Unix time, ms. */
  readonly wall: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

export interface Source {
  readonly source: InstallRecord['source'];
  readonly uri: string | null;
  /** Granted at once. */
  readonly permissions: readonly string[];
}

/**
 * Installs, starts, stops and removes extensions. What is to be is in the records; what runs is here. Steps of one extension
 * follow each other; installs follow each other too, since each needs the disk for itself.
 */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #methods = new Methods();
  readonly #installs = new Serial();
  readonly #turns = new Map<string, Serial>();
  readonly #running = new Map<string, Extension>();
  readonly #published = new Map<string, Published>();
  readonly #settings = new Map<string, PluginSettings>();
  readonly #manifests = new Map<string, { readonly at: number; readonly manifest: Manifest }>();
  #closed = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** The running extension; null if it does not run. */
  running(id: string): Extension | null {
    return this.#running.get(id) ?? null;
  }

  settingsOf(id: string): PluginSettings {
    let settings = this.#settings.get(id);
    if (settings === undefined) {
      settings = new PluginSettings(this.#options.settings, id);
      this.#settings.set(id, settings);
    }
    return settings;
  }

  publishedOf(id: string): Published | null {
    return this.#published.get(id) ?? null;
  }

  /** Of an installed extension. @throws PluginRefusal host_io_error if it cannot be read */
  async manifestOf(record: InstallRecord): Promise<Manifest> {
    const { plugin_id: id, installed_at: at } = record;
    const known = this.#manifests.get(id);
    if (known?.at === at) return known.manifest;
    try {
      const folder = this.#options.installer.folderOf(record);
      const text = await readFile(join(folder, 'manifest.yaml'), 'utf8');
      const { manifest: read, violations } = parseManifest(text);
      if (read === null) throw new Error(violations.map((violation) => faultOf(violation, 'it')).join('; '));
      const manifest = { ...read, settings: read.settings ?? (await olderSettings(folder)) };
      this.#manifests.set(id, { at, manifest });
      return manifest;
    } catch (error) {
      throw new PluginRefusal('host_io_error', `The manifest of ${id} cannot be read: ${messageOf(error)}.`);
    }
  }

  /** Installs a checked archive; what ran of an older version was stopped. @throws PluginRefusal */
  async install(
    checked: Checked,
    { source, uri, permissions }: Source,
    progress: OnProgress,
  ): Promise<InstallRecord> {
    const { manifest, signer, archive } = checked;
    const { id, version } = manifest;
    const { installer, store, wall } = this.#options;
    for (const permission of permissions) checkAsked(manifest, permission);
    if (this.#installs.size >= MAX_WAITING)
      throw new PluginRefusal('host_io_error', 'Too many installations at once. Try again shortly.');
    return this.#installs.run(async () =>
      this.#inTurn(id, async () => {
        const old = (await store.all()).find(({ plugin_id }) => plugin_id === id) ?? null;
        if (old !== null) checkReplaces(old, version, signer);
        const at = Math.max(wall(), (old?.installed_at ?? 0) + 1);
        await installer.place(checked, { plugin_id: id, installed_at: at }, progress);
        await this.#stop(id);
        const record: InstallRecord = {
          plugin_id: id,
          version,
          manifest_hash: archive.manifestHash,
          source,
          source_uri: uri,
          signer_id: signer,
          status: 'installed',
          installed_at: at,
          enabled_at: null,
          failure_reason: null,
          last_words: [],
          sandbox: null,
          permissions: granting(permissions, at),
        };
        await store
          .change(id, () => record)
          .catch(async (error: unknown) => {
            await rm(installer.folderOf(record), { recursive: true, force: true });
            if (old !== null && isOn(old)) await this.#beginAgain(old);
            throw error;
          });
        // From here on it is installed; what is left of the old version is swept at the next start at the latest.
        if (old !== null) await rm(installer.folderOf(old), { recursive: true, force: true });
        return record;
      }),
    );
  }

  /** @throws PluginRefusal */
  async enable(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      const record = await this.#options.store.get(id);
      if (this.#running.has(id) && record.status === 'running') return;
      await this.#begin(record);
    });
  }

  /** @throws PluginRefusal */
  async disable(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      await this.#options.store.get(id);
      await this.#stop(id);
      await this.#update(id, { status: 'disabled', enabled_at: null });
    });
  }

  /** @throws PluginRefusal */
  async remove(id: string, keepData: boolean): Promise<void> {
    await this.#inTurn(id, async () => {
      const { store, installer, sandbox, places } = this.#options;
      const record = await store.get(id);
      await this.#stop(id);
      await store.change(id, () => null);
      await rm(dirname(installer.folderOf(record)), { recursive: true, force: true });
      if (!keepData) {
        await this.settingsOf(id).remove();
        await sandbox?.forget(id, join(places.data, id));
        await rm(join(places.data, id), { recursive: true, force: true });
      }
      for (const map of [this.#published, this.#settings, this.#manifests]) map.delete(id);
    });
  }

  /** @throws PluginRefusal permission_deny for what it does not ask for */
  async grant(id: string, permission: string): Promise<void> {
    await this.#changeGrant(id, permission, true);
  }

  /** @returns what is still granted */
  async revoke(id: string, permission: string): Promise<readonly string[]> {
    return [...grantedOf(await this.#changeGrant(id, permission, false))].toSorted();
  }

  /** Starts what ran when the node stopped, one after the other. */
  async resume(): Promise<void> {
    for (const record of await this.#options.store.all()) {
      if (!isOn(record)) continue;
      if (this.#closed) return;
      await this.#inTurn(record.plugin_id, async () => this.#beginAgain(record));
    }
  }

  /** From now on nothing is started. */
  close(): void {
    this.#closed = true;
  }

  /** Stops all of them; their records stay as they are. */
  async stop(): Promise<void> {
    await Promise.all(
      [...this.#running.keys()].map(async (id) => this.#inTurn(id, async () => this.#stop(id))),
    );
  }

  /** Stops those whose signer is revoked by now. */
  async checkSigners(): Promise<void> {
    const { revoked } = await this.#options.installer.trust();
    for (const { plugin_id: id, signer_id: signer } of await this.#options.store.all()) {
      if (signer === null || !revoked.has(signer)) continue;
      await this.#inTurn(id, async () => {
        const record = this.#options.store.peek(id);
        if (record === null || record.failure_reason === 'signer_revoked') return;
        this.#options.log.error(`${id} is stopped: its signer ${signer} is revoked`);
        await this.#stop(id);
        await this.#update(id, { status: 'disabled', enabled_at: null, failure_reason: 'signer_revoked' });
      });
    }
  }

  /** Stops those whose files were changed. */
  async checkIntegrity(): Promise<void> {
    for (const { plugin_id: id } of await this.#options.store.all())
      await this.#inTurn(id, async () => {
        const record = this.#options.store.peek(id);
        if (record !== null && isOn(record)) await this.#checkFiles(record);
      });
  }

  /** Nothing is kept for an id of which nothing is under way: it may be anybody's word. */
  async #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(id) ?? new Serial();
    this.#turns.set(id, turn);
    try {
      return await turn.run(work);
    } finally {
      if (turn.size === 0) this.#turns.delete(id);
    }
  }

  /** @throws PluginRefusal; the record says why too, where it stays so */
  async #begin(record: InstallRecord): Promise<void> {
    const { installer, sandbox, places, log } = this.#options;
    const { plugin_id: id } = record;
    if (this.#closed) throw new PluginRefusal('refused', 'The node is stopping.');
    const problem = await this.#checkFiles(record);
    if (problem !== null) throw new PluginRefusal('refused', `${id} is not started: ${problem}.`);
    const manifest = await this.manifestOf(record);
    try {
      installer.checkFits(manifest);
    } catch (error) {
      await this.#update(id, { status: 'incompatible', failure_reason: messageOf(error) });
      throw error;
    }
    const granted = grantedOf(record);
    const missing = requestedPermissions(manifest).filter(
      ({ id: wanted, required, available }) => required && available && !granted.has(wanted),
    );
    if (missing.length > 0)
      throw new PluginRefusal(
        'permission_deny',
        `${id} needs ${missing.map((permission) => permission.id).join(', ')}. Grant it, or remove the extension.`,
      );
    const programs = manifest.agent?.subprocess_spawn ?? [];
    if (programs.length > 0 && !granted.has('process.spawn'))
      throw new PluginRefusal(
        'permission_deny',
        `${id} brings programs that it starts (${programs.join(', ')}), and needs process.spawn. Grant it, or remove the extension.`,
      );
    const enabledAt = record.enabled_at ?? this.#options.wall();
    if (manifest.agent === null) {
      await this.#update(id, { status: 'enabled', enabled_at: enabledAt, failure_reason: null });
      return;
    }
    const spec = specOf(record, manifest, manifest.agent, { ...places, install: installer.folderOf(record) });
    if (spec instanceof PluginRefusal) {
      // Its page may be of use all the same.
      const reason = `Only its page is shown here. ${messageOf(spec)}`;
      await this.#update(id, { status: 'enabled', enabled_at: enabledAt, failure_reason: reason });
      return;
    }
    if (sandbox === null)
      throw new PluginRefusal(
        'refused',
        'No sandbox for extensions. Install bubblewrap (apt install bubblewrap), then restart svc-residual.',
      );
    const refused = await sandbox.refusal(spec);
    if (refused !== null) throw new PluginRefusal('refused', refused);
    await mkdir(spec.data, { recursive: true, mode: 0o700 });
    const extension = new Extension({
      spec,
      sandbox,
      hosted: this.#hosted(record, manifest.agent, spec.sockets),
      methods: this.#methods,
      onFailed: (reason, words) => void this.#failed(id, reason, words),
      log,
    });
    this.#running.set(id, extension);
    try {
      await extension.start();
    } catch (error) {
      this.#running.delete(id);
      throw new PluginRefusal('host_io_error', `${id} could not be started: ${messageOf(error)}.`);
    }
    await this.#update(id, {
      status: 'running',
      enabled_at: enabledAt,
      failure_reason: null,
      last_words: [],
      sandbox: sandbox.kind,
    });
    log.info(`${id} ${record.version} runs (${sandbox.kind})`);
  }

  /** Of one that is on. If it cannot be started, its record says why, and it is tried again when the node starts. */
  async #beginAgain(record: InstallRecord): Promise<InstallRecord> {
    const { plugin_id: id } = record;
    try {
      await this.#begin(record);
    } catch (error) {
      this.#options.log.error(`${id}: ${messageOf(error)}`);
      const found = await this.#options.store.get(id);
      if (isOn(found) && !this.#closed)
        await this.#update(id, { status: 'enabled', failure_reason: messageOf(error) });
    }
    return this.#options.store.get(id);
  }

  #hosted({ plugin_id: id, version }: InstallRecord, agent: AgentHalf, sockets: string): Hosted {
    const { store, services, places, now, wall, log } = this.#options;
    const published = new Published(now, wall);
    this.#published.set(id, published);
    return {
      ...services,
      id,
      version,
      grants: () => {
        const record = store.peek(id);
        return record === null ? new Set() : grantedOf(record);
      },
      denied: (capability) => log.warn(`${id} was refused ${capability}`, { plugin: id }),
      settings: this.settingsOf(id),
      components: agent.mavlink_components,
      published,
      telemetry: new ExtensionTelemetry(id, services.vehicle, now),
      camera: new ExtensionCamera(id, { sockets, cameras: places.cameras }),
      limits: new ExtensionLimits(now),
      detections: new ExtensionDetections(id, services.detectionFeed, now, wall),
    };
  }

  async #stop(id: string): Promise<void> {
    const extension = this.#running.get(id);
    this.#running.delete(id);
    this.#published.delete(id);
    if (extension === undefined) return;
    await extension.stop();
    this.#options.onEnded(id);
  }

  /** @returns why its files may not run; then it was stopped, and its record says so */
  async #checkFiles(record: InstallRecord): Promise<string | null> {
    const { installer, log } = this.#options;
    const { plugin_id: id, signer_id: signer } = record;
    const problem = await integrityProblem(installer.folderOf(record), signer, await installer.trust());
    if (problem === null) return null;
    log.error(`${id} is stopped: ${problem}`);
    await this.#stop(id);
    const status = problem === 'signer_revoked' ? 'disabled' : 'failed';
    await this.#update(id, { status, enabled_at: null, failure_reason: problem });
    return problem;
  }

  async #failed(id: string, reason: string, words: readonly string[]): Promise<void> {
    await this.#inTurn(id, async () => {
      this.#options.log.error(`${id} is given up: ${reason}`);
      await this.#stop(id);
      await this.#update(id, { status: 'failed', failure_reason: reason, last_words: [...words] });
    }).catch((error: unknown) => this.#options.log.error(`${id}: ${messageOf(error)}`));
  }

  async #changeGrant(id: string, permission: string, granted: boolean): Promise<InstallRecord> {
    return this.#inTurn(id, async () => {
      const { store, wall } = this.#options;
      const record = await store.get(id);
      if (granted || record.permissions[permission] === undefined)
        checkAsked(await this.manifestOf(record), permission);
      const old = record.permissions[permission] ?? { granted: false, granted_at: null, revoked_at: null };
      if (old.granted === granted) return record;
      const time = wall();
      const changed = granted
        ? { granted, granted_at: time, revoked_at: old.revoked_at }
        : { granted, granted_at: old.granted_at, revoked_at: time };
      const now = await this.#update(id, { permissions: { ...record.permissions, [permission]: changed } });
      const extension = this.#running.get(id);
      extension?.recheck();
      extension?.tell('grants', { grants: [...grantedOf(now)].toSorted() });
      if (!isOn(now) || !shapesSandbox(permission)) return now;
      await this.#stop(id);
      return this.#beginAgain(now);
    });
  }

  async #update(id: string, change: Partial<InstallRecord>): Promise<InstallRecord> {
    const after = await this.#options.store.change(id, (record) => record && { ...record, ...change });
    if (after === null) throw notInstalled(id);
    return after;
  }
}

/** @throws PluginRefusal permission_deny for what the extension does not ask for, and for what nobody is granted here */
function checkAsked(manifest: Manifest, permission: string): void {
  const asked = requestedPermissions(manifest).find(({ id }) => id === permission);
  if (asked === undefined)
    throw new PluginRefusal('permission_deny', `${manifest.id} does not ask for ${permission}.`);
  if (!asked.available)
    throw new PluginRefusal('permission_deny', `${permission} is not offered. ${asked.risk_reason}`);
}

/** @returns a refusal where what runs is not for this machine, and there is a page besides @throws PluginRefusal incompatible */
function specOf(
  record: InstallRecord,
  manifest: Manifest,
  agent: AgentHalf,
  places: Places,
): SandboxSpec | PluginRefusal {
  try {
    return launchOf(record, manifest, agent, places);
  } catch (error) {
    if (error instanceof PluginRefusal && error.kind === 'incompatible' && manifest.gcs !== null)
      return error;
    throw error;
  }
}
