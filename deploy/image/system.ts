import { cp, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../shared/process/run-program.ts';
import { normaliseModes } from '../package/stage.ts';
import { type Board, PACKAGES } from './boards.ts';

/** An arm64 system on an amd64 machine is emulated while its packages are set up. */
const SYSTEM_MS = 90 * 60_000;
const SQUASH_MS = 30 * 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const COMPONENTS = 'main non-free-firmware';

interface SystemInput {
  readonly board: Board;
  readonly suite: string;
  /** Where the packages of Debian come from, `http://deb.debian.org/debian`. */
  readonly mirror: string;
  /** The package of svc. */
  readonly deb: string;
  /** The time of every file, seconds. */
  readonly epoch: number;
  readonly work: string;
  /** Replaces `/etc/fstab`'s word for the boot partition. */
  readonly bootPartition: string;
}

/** What a system is made of. */
interface System {
  /** Its files, as a squashfs. */
  readonly squashfs: string;
  /** Its folder /boot; and the program of UEFI, if it starts by one. */
  readonly boot: string;
  /** What dpkg knows, and svc's own list of what is inside of it. */
  readonly status: string;
  readonly sbom: string;
}

/**
 * Makes a system of Debian's packages and svc's, by mmdebstrap. The same packages give the same bytes.
 * @throws ApiError E_NOT_IMPLEMENTED for a program that is missing; E_UPSTREAM for a package that cannot be had
 */
export async function makeSystem(input: SystemInput): Promise<System> {
  const { board, suite, mirror, deb, epoch, work } = input;
  const [overlay, boot] = [join(work, 'overlay'), join(work, 'boot')];
  await cp(join(import.meta.dirname, 'root'), overlay, { recursive: true });
  await normaliseModes(overlay);
  await mkdir(boot);
  const env = {
    ...process.env,
    SOURCE_DATE_EPOCH: String(epoch),
    LC_ALL: 'C.UTF-8',
    TMPDIR: work, // room for a whole system; the usual folder may be memory
    SVC_IMAGE_DEB: deb,
    SVC_IMAGE_BOOT: input.bootPartition,
  };
  const tar = join(work, 'system.tar');
  await runProgram(
    'mmdebstrap',
    [
      '--variant=minbase',
      `--architectures=${board.arch}`,
      `--include=${[...PACKAGES, ...board.packages].join(',')}`,
      `--components=${COMPONENTS}`,
      '--aptopt=Acquire::Retries "5"',
      '--dpkgopt=force-confold',
      '--dpkgopt=path-exclude=/usr/share/doc/*',
      '--dpkgopt=path-include=/usr/share/doc/*/copyright',
      '--dpkgopt=path-include=/usr/share/doc/svc/*',
      '--dpkgopt=path-exclude=/usr/share/man/*',
      '--dpkgopt=path-exclude=/usr/share/locale/*',
      // Before the kernel comes, whose initial RAM disk is made of them.
      `--essential-hook=sync-in ${overlay} /`,
      `--customize-hook=${join(import.meta.dirname, 'customize')}`,
      `--customize-hook=sync-out /boot ${boot}`,
      `--customize-hook=download /var/lib/dpkg/status ${join(work, 'status')}`,
      `--customize-hook=download /usr/share/doc/svc/sbom.cdx.json ${join(work, 'svc.cdx.json')}`,
      ...(board.efi === null ? [] : [`--customize-hook=download /${board.efi.from} ${join(boot, 'efi')}`]),
      '--customize-hook=rm -rf "$1"/boot/* && mkdir -p "$1/boot/firmware"',
      suite,
      tar,
      mirror,
    ],
    SYSTEM_MS,
    { env, maxBytes: OUTPUT_BYTES },
  );
  const squashfs = join(work, 'system.squashfs');
  await runProgram(
    'sh',
    ['-c', 'exec tar2sqfs --quiet --force --compressor zstd "$1" <"$0"', tar, squashfs],
    SQUASH_MS,
    {
      env,
    },
  );
  return { squashfs, boot, status: join(work, 'status'), sbom: join(work, 'svc.cdx.json') };
}

/** The kernel and its initial RAM disk in a folder /boot: the newest, there is one. */
export async function kernelIn(boot: string): Promise<{ readonly kernel: string; readonly initrd: string }> {
  const names = await readdir(boot);
  const find = (prefix: string): string => {
    const name = names
      .filter((each) => each.startsWith(prefix))
      .toSorted()
      .at(-1);
    if (name === undefined) throw new Error(`there is no ${prefix}… in /boot of the new system`);
    return join(boot, name);
  };
  return { kernel: find('vmlinuz-'), initrd: find('initrd.img-') };
}

/** As `rename`, into a folder that may not be there yet. */
export async function place(from: string, folder: string, name: string): Promise<void> {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await rename(from, join(folder, name));
}
