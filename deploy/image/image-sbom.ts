import { readFile } from 'node:fs/promises';
import { isObject, memberOf, parseJson } from '../../shared/member.ts';
import { type Component, documentOf } from '../package/sbom.ts';

interface ImageSbomInput {
  readonly name: string;
  readonly version: string;
  readonly suite: string;
  /** Seconds. */
  readonly epoch: number;
  /** Files: dpkg's status, and svc's own list. */
  readonly status: string;
  readonly sbom: string;
}

/** The list of what is in an image: Debian's packages, and what is in svc's. */
export async function imageSbom({ name, version, suite, epoch, ...files }: ImageSbomInput): Promise<string> {
  const packages = (await readFile(files.status, 'utf8')).split('\n\n').flatMap((text) => {
    const field = (key: string): string => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1] ?? '';
    const [its, number, arch] = [field('Package'), field('Version'), field('Architecture')];
    return its === '' ? [] : [debComponent(its, number, arch, suite)];
  });
  const own = memberOf(parseJson(await readFile(files.sbom, 'utf8')), 'components');
  const inside = Array.isArray(own) ? own.filter(isComponent) : [];
  return documentOf({ name, version, epoch, type: 'operating-system', licenses: [] }, [
    ...packages,
    ...inside,
  ]);
}

function isComponent(value: unknown): value is Component {
  return isObject(value) && typeof value['bom-ref'] === 'string';
}

/** @see https://github.com/package-url/purl-spec, type deb */
function debComponent(name: string, version: string, arch: string, suite: string): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}&distro=${suite}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}
