/** npm run image: a memory card with Debian and svc, for a board (docs/image.md). */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { memberOf, parseJson } from '../../shared/member.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import { imageComment } from '../../shared/update/image-comment.ts';
import { digestOf, parseSecretKey, signText } from '../../shared/update/minisign.ts';
import { commitTime } from '../package/commit-time.ts';
import { BOARDS, type Board, type BoardName, isBoard } from './boards.ts';
import { type DiskIds, diskIds, makeDisk } from './disk.ts';
import { imageSbom } from './image-sbom.ts';
import { kernelIn, makeSystem, place } from './system.ts';

const USAGE = `npm run image -- --board NAME [OPTIONS]     as root
  --board NAME         ${Object.keys(BOARDS).join(', ')}
  --suite NAME         of Debian: bookworm (default), trixie
  --mirror URL         of Debian's packages; with a folder of snapshot.debian.org, the same packages at any time
  --packages DIR       with the svc_….deb of npm run package; default packages
  --out DIR            default packages
  --sign KEYFILE       of minisign, as for npm run package: FILE.minisig beside it
  --plain              not compressed
`;
const SUITES = ['bookworm', 'trixie'];
const MIB = 1024 * 1024;
const COMPRESS_MS = 60 * 60_000;

const checkout = join(import.meta.dirname, '../..');

interface Options {
  readonly name: BoardName;
  readonly suite: string;
  readonly mirror: string;
  readonly packages: string;
  readonly out: string;
  readonly plain: boolean;
  readonly sign: string | null;
}

/** @throws Error for an unknown board or suite */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      board: { type: 'string' },
      suite: { type: 'string', default: 'bookworm' },
      mirror: { type: 'string', default: 'http://deb.debian.org/debian' },
      packages: { type: 'string', default: join(checkout, 'packages') },
      out: { type: 'string', default: join(checkout, 'packages') },
      plain: { type: 'boolean', default: false },
      sign: { type: 'string' },
    },
  });
  const { board = '', suite, mirror, plain } = values;
  if (!isBoard(board)) throw new Error(`--board is one of ${Object.keys(BOARDS).join(', ')}`);
  if (!SUITES.includes(suite)) throw new Error(`--suite is one of ${SUITES.join(', ')}`);
  return {
    name: board,
    suite,
    mirror,
    plain,
    packages: resolve(values.packages),
    out: resolve(values.out),
    sign: values.sign ?? null,
  };
}

async function makeImage({ name, suite, mirror, packages, out, plain, sign }: Options): Promise<string> {
  const key = sign === null ? null : parseSecretKey(await readFile(sign, 'utf8'));
  const board: Board = BOARDS[name];
  const version = String(
    memberOf(parseJson(await readFile(join(checkout, 'package.json'), 'utf8')), 'version'),
  );
  const deb = join(packages, `svc_${version}_${board.arch}.deb`);
  if (!existsSync(deb))
    throw new Error(`${deb} is missing. Run: npm run package -- --arch ${board.arch} --only svc`);
  const epoch = await commitTime(checkout);
  const ids = diskIds(board.table, [name, suite, mirror, String(epoch), await sha256(deb)]);
  await mkdir(out, { recursive: true });
  // Where there is room for a whole system; and the folder of temporary files may be memory.
  const work = await mkdtemp(join(out, '.image-'));
  await chmod(work, 0o755); // apt gives up its rights
  try {
    const system = await makeSystem({ board, suite, mirror, deb, epoch, work, bootPartition: ids.boot });
    const boot = join(work, 'boot-partition');
    await mkdir(boot);
    await (board.efi === null
      ? bootOfPi(system.boot, boot, board, ids)
      : bootOfEfi(system.boot, boot, board, ids));
    await cp(join(import.meta.dirname, 'svc.yaml'), join(boot, 'svc.yaml.example'));
    const image = join(work, 'image');
    await makeDisk({ table: board.table, ids, boot, squashfs: system.squashfs, epoch, work }, image);
    if (!plain) await runProgram('xz', ['--threads=1', '-6', image], COMPRESS_MS);
    const title = `svc_${version}_${name}_${suite}`;
    const path = join(out, `${title}.img${plain ? '' : '.xz'}`);
    const text = await imageSbom({ name: title, version, suite, epoch, ...system });
    await writeFile(join(out, `${title}.cdx.json`), text);
    await rename(plain ? image : `${image}.xz`, path);
    if (key !== null)
      await writeFile(
        `${path}.minisig`,
        signText(await digestOf(path), key, imageComment({ version, board: name, suite })),
      );
    return path;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function commandLine({ consoles }: Board, { system }: DiskIds): string {
  const words = consoles.map((each) => `console=${each}`).join(' ');
  // A kernel that panics starts again.
  return `root=PARTUUID=${system} rootfstype=squashfs ro rootwait ${words} panic=10`;
}

async function bootOfEfi(from: string, boot: string, board: Board, ids: DiskIds): Promise<void> {
  const { kernel, initrd } = await kernelIn(from);
  await place(join(from, 'efi'), boot, board.efi?.to ?? '');
  await place(kernel, boot, 'svc/vmlinuz');
  await place(initrd, boot, 'svc/initrd.img');
  await mkdir(join(boot, 'loader/entries'), { recursive: true });
  await writeFile(join(boot, 'loader/loader.conf'), 'timeout 0\neditor no\n');
  const entry = [
    'title svc',
    'linux /svc/vmlinuz',
    'initrd /svc/initrd.img',
    `options ${commandLine(board, ids)}`,
  ];
  await writeFile(join(boot, 'loader/entries/svc.conf'), `${entry.join('\n')}\n`);
}

/** What raspi-firmware has put into /boot/firmware, with our command line. */
async function bootOfPi(from: string, boot: string, board: Board, ids: DiskIds): Promise<void> {
  const firmware = join(from, 'firmware');
  for (const entry of await readdir(firmware)) await place(join(firmware, entry), boot, entry);
  await writeFile(join(boot, 'cmdline.txt'), `${commandLine(board, ids)}\n`);
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

if (process.argv.includes('--help')) process.stdout.write(USAGE);
else {
  const path = await makeImage(readOptions(process.argv.slice(2)));
  process.stdout.write(`${((await stat(path)).size / MIB).toFixed(1)} MiB  ${path}\n`);
}
