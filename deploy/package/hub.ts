import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Arch } from '../../shared/update/manifest.ts';
import { buildDeb } from './deb.ts';
import { checkPrograms } from './elf.ts';
import { NODE_CPU } from './modules.ts';
import { neededLibraries } from './needed-libraries.ts';
import { OWN_LICENSE, writePapers } from './papers.ts';
import { copyPart } from './part.ts';
import { copy, normaliseModes } from './stage.ts';
import { debianVersion, MAINTAINER } from './svc-deb.ts';

/** As the hub's own user, wherever root calls it: the files are that user's. */
const COMMAND = `#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
export SVC_HUB_DIR="\${SVC_HUB_DIR:-/var/lib/svc-hub}"
set -- "$root/node_modules/.bin/node" "$root/bin/svc-hub.js" "$@"
if [ "$(id -u)" = 0 ] && [ "$SVC_HUB_DIR" = /var/lib/svc-hub ]; then
  cd /var/lib/svc-hub
  exec runuser -u svc-hub -- "$@"
fi
exec "$@"
`;

interface HubInput {
  readonly checkout: string;
  readonly dist: string;
  readonly modules: string;
  readonly arch: Arch;
  readonly version: string;
  readonly epoch: number;
  readonly fast: boolean;
}

/** Makes `svc-hub_<version>_<arch>.deb`. @param root a folder for the tree, not there yet */
export async function hubDeb(input: HubInput, root: string, out: string): Promise<void> {
  const { checkout, dist, modules, arch, version, epoch, fast } = input;
  const tree = join(root, 'opt/svc-hub');
  await mkdir(join(tree, 'bin'), { recursive: true });
  const node = `node-linux-${NODE_CPU[arch]}`;
  const packages = await copyPart(dist, modules, ['bin/hub/main'], [node], tree);
  await mkdir(join(tree, 'node_modules/.bin'));
  await symlink(`../${node}/bin/node`, join(tree, 'node_modules/.bin/node'));
  await mkdir(join(tree, 'dist/residual/web'), { recursive: true });
  await copy(join(dist, 'residual/web/dist'), join(tree, 'dist/residual/web/dist'));
  await copy(join(checkout, 'bin/svc-hub.js'), join(tree, 'bin/svc-hub.js'));
  await writeFile(join(tree, 'bin/svc-hub'), COMMAND, { mode: 0o755 });
  for (const name of ['package.json', 'LICENSE']) await copy(join(checkout, name), join(tree, name));
  await mkdir(join(tree, 'docs'));
  await copy(join(checkout, 'docs/fleet.md'), join(tree, 'docs/fleet.md'));
  await copy(join(checkout, 'deploy/hub/root/usr'), join(root, 'usr'));
  await mkdir(join(root, 'usr/bin'));
  await symlink('/opt/svc-hub/bin/svc-hub', join(root, 'usr/bin/svc-hub'));
  const papers = { checkout, name: 'svc-hub', version, license: OWN_LICENSE, packages, epoch };
  await writePapers(papers, join(root, 'usr/share/doc/svc-hub'));
  await normaliseModes(root);
  const { depends } = await neededLibraries(tree, await checkPrograms(tree, arch));
  const control = {
    Package: 'svc-hub',
    Version: debianVersion(version),
    Section: 'net',
    Priority: 'optional',
    Architecture: arch,
    Maintainer: MAINTAINER,
    Depends: [...depends, 'mosquitto', 'systemd', 'util-linux'].join(', '),
    Description:
      'fleet of drones and ground stations in one place\nThe hub of nodes that run svc: it enrols them, lets one credential reach any of them,\nand runs an MQTT broker between them.',
  };
  await buildDeb(
    { root, control, scripts: join(checkout, 'deploy/hub/debian'), words: {}, epoch, fast },
    out,
  );
}
