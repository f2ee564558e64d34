import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { MASK } from '../../../shared/mask.ts';
import type { JsonObject } from '../../../shared/member.ts';
import { toolClass } from '../../../shared/plugins/capabilities.ts';
import {
  type Manifest,
  type McpContributions,
  requestedPermissions,
} from '../../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import { readAttestation } from './install/attestation.ts';
import { grantedOf, type InstallRecord } from './record.ts';

/** What the routes show of an extension, and the files of its ground half. */

export function halvesOf({ agent, gcs }: Manifest): readonly string[] {
  return [...(agent === null ? [] : ['agent']), ...(gcs === null ? [] : ['gcs'])];
}

/** The part of a manifest that people and programs need. */
export function manifestView(manifest: Manifest, record: InstallRecord) {
  const { id, version, name, description, author, risk, license, agent, gcs } = manifest;
  return {
    id,
    version,
    name,
    description,
    author,
    risk,
    license,
    http: agent?.http ?? false,
    halves: halvesOf(manifest),
    gcs:
      gcs === null
        ? null
        : { entrypoint: gcs.entrypoint, contributes: gcs.contributes.ui, locales: gcs.locales },
    settings: manifest.settings,
    permissions: requestedPermissions(manifest),
    mcp: contributionsOf(manifest, grantedOf(record)),
  };
}

/** The settings that the manifest names, as far as they are set; those that are `writeOnly` masked. */
export function settingsView({ settings }: Manifest, values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings?.properties ?? {}).flatMap(([key, schema]) =>
      Object.hasOwn(values, key) ? [[key, schema['writeOnly'] === true ? MASK : values[key]]] : [],
    ),
  );
}

/** Tools with their class here and now: whoever calls one calls with everything that the extension was granted. */
function contributionsOf({ agent, gcs }: Manifest, granted: ReadonlySet<string>) {
  const halves: readonly (readonly [string, McpContributions | undefined])[] = [
    ['agent', agent?.contributes],
    ['gcs', gcs?.contributes],
  ];
  const of = (kind: 'resources' | 'prompts') =>
    halves.flatMap(([half, contributes]) => (contributes?.[kind] ?? []).map((entry) => ({ ...entry, half })));
  return {
    tools: halves.flatMap(([half, contributes]) =>
      (contributes?.tools ?? []).map((tool) => ({
        ...tool,
        half,
        class: toolClass(tool.safety_class, granted),
      })),
    ),
    resources: of('resources'),
    prompts: of('prompts'),
  };
}

/**
 * Opens a file of an extension for reading. Its path is looked up in the attestation, never made into one.
 * @param folder of its files
 * @throws PluginRefusal not_found
 */
export async function openFile(folder: string, path: string): Promise<FileHandle> {
  const attestation = await readAttestation(folder).catch(() => null); // then there is nothing to show of it
  const known = attestation?.files.find((file) => file.path === path);
  const file =
    known === undefined
      ? null
      : await open(join(folder, known.path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null); // removed
  if (file === null) throw new PluginRefusal('not_found', `The extension has no file ${path}.`);
  return file;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

export function mediaTypeOf(path: string): string {
  return TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

/**
 * For the files of a ground half. Opened by itself, such a file has an origin of its own and reaches nothing; the page hands what it
 * needs to it.
 */
export const FRAME_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
