import { mkdir, readdir, rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import type { Board } from '../../../../shared/board.ts';
import { messageOf } from '../../../../shared/errors.ts';
import { type Archive, openArchive } from '../../../../shared/plugins/archive.ts';
import { type Manifest, svcVersionFits } from '../../../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';
import {
  type FileDigest,
  readRevocations,
  readTrust,
  signerOf,
  type Trust,
} from '../../../../shared/plugins/signature.ts';
import type { Profile } from '../../../../shared/profile.ts';
import type { OnProgress } from '../../../../shared/routes/handler.ts';
import type { InstallRecord } from '../record.ts';
import { writeAttestation } from './attestation.ts';
import { INCOMING } from './upload.ts';

interface InstallerOptions {
  /** The folder of the installed extensions: `<id>/<installed_at>` each. */
  readonly folder: string;
  readonly keys: string;
  readonly revocations: string;
  readonly requireSigned: boolean;
  readonly version: string;
  readonly profile: Profile;
  readonly board: Board;
}

/** An archive that has passed every check that needs no other extension. */
export interface Checked {
  readonly archive: Archive;
  readonly manifest: Manifest;
  /** Whose signature was verified; null: none, and none is required. */
  readonly signer: string | null;
  readonly files: readonly FileDigest[];
}

/** Checks archives and puts their files in place. Knows nothing of records: a folder without one is left over, and removed. */
export class Installer {
  readonly #options: InstallerOptions;

  constructor(options: InstallerOptions) {
    this.#options = options;
  }

  /** The keys and the revocations as they are on the disk now. @throws PluginRefusal host_io_error */
  async trust(): Promise<Trust> {
    const { keys, revocations } = this.#options;
    try {
      return { ...(await readTrust(keys)), revoked: await readRevocations(revocations) };
    } catch (error) {
      throw new PluginRefusal(
        'host_io_error',
        `Whom this node trusts cannot be read: ${messageOf(error)}. Nothing is installed or enabled until it can.`,
      );
    }
  }

  /** The folder of an installed extension's files. */
  folderOf({ plugin_id: id, installed_at: at }: Pick<InstallRecord, 'plugin_id' | 'installed_at'>): string {
    return join(this.#options.folder, id, String(at));
  }

  /**
   * Opens an archive and checks it against this node.
   * @param work gets it; it is closed afterwards
   * @throws PluginRefusal
   */
  async checked<T>(path: string, work: (checked: Checked) => Promise<T>): Promise<T> {
    const archive = await openArchive(path);
    try {
      const once = readOnce(archive);
      const signer = await this.#signerOf(once);
      this.checkFits(archive.manifest);
      const { files } = await once.digest();
      return await work({ archive, manifest: archive.manifest, signer, files });
    } finally {
      await archive.close();
    }
  }

  /** What an archive says and wants, and why it would be refused, if it would. @throws PluginRefusal if it cannot be read */
  async parsed<T>(
    path: string,
    work: (archive: Archive, signer: string | null, problem: string | null) => T,
  ): Promise<T> {
    const archive = await openArchive(path);
    try {
      try {
        const signer = await this.#signerOf(readOnce(archive));
        this.checkFits(archive.manifest);
        return work(archive, signer, null);
      } catch (error) {
        if (error instanceof PluginRefusal) return work(archive, null, error.message);
        throw error;
      }
    } finally {
      await archive.close();
    }
  }

  /**
   * Writes the files where the record will say, all of them on the disk before it returns.
   * @throws PluginRefusal archive_invalid, host_io_error; then nothing is left
   */
  async place(
    { archive, files }: Checked,
    where: Pick<InstallRecord, 'plugin_id' | 'installed_at'>,
    progress: OnProgress,
  ): Promise<void> {
    const folder = this.folderOf(where);
    const total = archive.unpackedSize;
    try {
      await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
      await archive.unpack(folder, (done) => progress({ done, total, text: 'unpacking' }));
      await writeAttestation(folder, { signature: archive.signatureText, files });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (error instanceof PluginRefusal) throw error;
      throw new PluginRefusal('host_io_error', `Its files could not be written: ${messageOf(error)}.`);
    }
  }

  /** Removes what no record names: of a process that was killed in between, or of an older install. */
  async sweep(records: readonly InstallRecord[]): Promise<void> {
    const { folder } = this.#options;
    const kept = new Map(records.map((record) => [record.plugin_id, String(record.installed_at)]));
    for (const id of await namesIn(folder)) {
      const path = join(folder, id);
      const stamp = kept.get(id);
      if (id === INCOMING || stamp === undefined) await rm(path, { recursive: true, force: true });
      else
        for (const name of await namesIn(path))
          if (name !== stamp) await rm(join(path, name), { recursive: true, force: true });
    }
  }

  async #signerOf(archive: Pick<Archive, 'signatureText' | 'digest'>): Promise<string | null> {
    const { signer } = await signerOf(archive, await this.trust(), { required: this.#options.requireSigned });
    return signer;
  }

  /** Whether it is for this version, board and profile. @throws PluginRefusal svc_version_skew, incompatible, host_io_error */
  checkFits(manifest: Manifest): void {
    const { compatibility, agent } = manifest;
    const { version, profile, board } = this.#options;
    if (!svcVersionFits(manifest, version))
      throw new PluginRefusal(
        'svc_version_skew',
        `It is for svc ${compatibility.svc_version}; this node runs ${version}.`,
      );
    const boards = compatibility.supported_boards.filter((name) => name !== '*');
    const any = boards.length < compatibility.supported_boards.length || boards.length === 0;
    if (!any && !boards.some((name) => isBoard(name, board)))
      throw new PluginRefusal(
        'host_io_error',
        `It is for ${boards.join(', ')}; this board is ${board.name ?? 'not known by name'}.`,
      );
    if (compatibility.min_tier !== null && board.tier < compatibility.min_tier)
      throw new PluginRefusal(
        'host_io_error',
        `It needs a board of tier ${compatibility.min_tier}; this one has tier ${board.tier} (${board.ram_mb} MB).`,
      );
    if (agent !== null && !agent.target_profiles.includes(profile))
      throw new PluginRefusal(
        'incompatible',
        `Its agent runs on ${agent.target_profiles.join(', ')}; this node is a ${profile}.`,
      );
  }
}

/** Its files are read once, however often their digest is asked for. */
function readOnce(archive: Archive): Pick<Archive, 'signatureText' | 'digest'> {
  let read: ReturnType<Archive['digest']> | null = null;
  return {
    signatureText: archive.signatureText,
    digest: async (signal) => (read ??= archive.digest(signal)),
  };
}

/** Short names of boards, as manifests write them, and what a board calls itself. */
const SHORT: Readonly<Record<string, string>> = { cm4: 'computemodule4', cm5: 'computemodule5' };
/** A PC has no name of its own; any of these is one. */
const PC: ReadonlySet<string> = new Set(['x86', 'x8664', 'x64', 'amd64', 'pc']);

/** Names are written in many ways: `raspberry-pi-4b`, `Raspberry Pi 4 Model B Rev 1.4`. */
function isBoard(wanted: string, { name, soc }: Board): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const sought = plain(wanted);
  if (PC.has(sought)) return arch() === 'x64';
  return [name, soc].some((own) => own !== null && plain(own).includes(SHORT[sought] ?? sought));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
