import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Arch } from '../../shared/update/manifest.ts';
import { buildDeb } from './deb.ts';
import { checkPrograms } from './elf.ts';
import { neededLibraries } from './needed-libraries.ts';
import { listPackages } from './package-list.ts';
import { WHOLE_LICENSE, writePapers } from './papers.ts';
import { copy, normaliseModes, PROGRAMS } from './stage.ts';

/** The project has no address for letters; one that cannot exist is clear to a program and to a person (RFC 2606). */
export const MAINTAINER = 'The svc maintainers <maintainers@svc.invalid>';

/** What is missing is 501 with its name; the node itself runs without. */
const RECOMMENDS = [
  'bubblewrap',
  'iputils-ping',
  'iw',
  'network-manager',
  'nftables',
  'slirp4netns',
  'wfb-ng',
];

interface SvcDebInput {
  readonly checkout: string;
  /** Of stageTree, on the same file system; it is moved into the package. */
  readonly tree: string;
  readonly arch: Arch;
  readonly version: string;
  readonly epoch: number;
  readonly fast: boolean;
}

/**
 * Makes `svc_<version>_<arch>.deb`. dpkg puts the tree into /opt/svc/package, and the maintainer scripts have svc-switch make a
 * version of it: what dpkg replaces file by file never runs.
 * @param root a folder for the files, not there yet
 */
export async function svcDeb(input: SvcDebInput, root: string, out: string): Promise<void> {
  const { checkout, tree, arch, version, epoch, fast } = input;
  await mkdir(join(root, 'opt/svc'), { recursive: true });
  const inside = join(root, 'opt/svc/package');
  await rename(tree, inside);
  await copy(join(checkout, 'deploy/svc-switch'), join(root, 'opt/svc/svc-switch'));
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  for (const name of PROGRAMS) await symlink(`/opt/svc/current/bin/${name}`, join(root, 'usr/bin', name));
  const packages = await listPackages(join(inside, 'node_modules'));
  const papers = { checkout, name: 'svc', version, license: WHOLE_LICENSE, packages, epoch };
  await writePapers(papers, join(root, 'usr/share/doc/svc'));
  await normaliseModes(root);
  const { glibc, depends } = await neededLibraries(inside, await checkPrograms(inside, arch));
  const control = {
    Package: 'svc',
    Version: debianVersion(version),
    Section: 'net',
    Priority: 'optional',
    Architecture: arch,
    Maintainer: MAINTAINER,
    Depends: [...depends, 'systemd'].join(', '),
    Recommends: RECOMMENDS.join(', '),
    Description:
      "node software of a drone's companion computer and of its ground station\nOne HTTP API, one edge, one link: the flight controller, the radio, the network, video,\nextensions, logs and a page. Everything that it runs on is inside, Node too.",
  };
  const mayCut = await mayCutOf(checkout);
  const words = { VERSION: version, ARCH: arch, GLIBC: glibc, MAY_CUT: mayCut, ...(await floorOf(inside)) };
  await buildDeb({ root, control, scripts: join(checkout, 'deploy/debian'), words, epoch, fast }, out);
}

/** The function of svc-switch that the scripts of the package have too: it runs where there is no svc-switch yet, or an older one. */
export async function mayCutOf(checkout: string): Promise<string> {
  const text = await readFile(join(checkout, 'deploy/svc-switch'), 'utf8');
  const found = /^may_cut\(\) \{\n[^]*?^\}$/m.exec(text);
  if (found === null) throw new Error('deploy/svc-switch has no function may_cut.');
  return found[0];
}

/** `1.0.0-rc.1` comes before 1.0.0, as Debian writes it: `1.0.0~rc.1`. */
export function debianVersion(version: string): string {
  return version.replace('-', '~');
}

async function floorOf(tree: string): Promise<Record<string, string>> {
  const file = join(tree, 'deploy/security-floor');
  return existsSync(file) ? { SECURITY_FLOOR: (await readFile(file, 'utf8')).trim() } : {};
}
