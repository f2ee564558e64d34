import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Paths } from '../../shared/paths.ts';
import { packFolder } from '../../shared/plugins/pack.ts';
import { ROOT } from './node.ts';
import { tempDir } from './temp.ts';

/** Archives of extensions, made by the test: its files, its manifest, its signer. */

export interface Signer {
  readonly id: string;
  readonly key: KeyObject;
  readonly publicPem: string;
}

export function signer(id: string): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { id, key: privateKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

/** Puts its public key among those that the node trusts. */
export async function trust(paths: Paths, { id, publicPem }: Signer): Promise<void> {
  await mkdir(paths.pluginKeys, { recursive: true });
  await writeFile(join(paths.pluginKeys, `${id}.pem`), publicPem);
}

export interface Made {
  readonly id?: string;
  readonly version?: string;
  /** Lines of the manifest below `agent:`, with two spaces before each; null: it has only a ground half. */
  readonly agent?: readonly string[] | null;
  /** Lines below `compatibility:`. */
  readonly compatibility?: readonly string[];
  /** Further lines of the manifest. */
  readonly lines?: readonly string[];
  /** By path in the archive; `agent/main.mjs` unless given. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly signer?: Signer | null;
}

/** Waits for SIGTERM. */
export const IDLE = "setInterval(() => undefined, 60_000);\nprocess.on('SIGTERM', () => process.exit(0));\n";

/** @returns the path of the archive */
export async function makeExtension({
  id = 'org.example.thing',
  version = '1.0.0',
  agent = ['entrypoint: agent/main.mjs', 'runtime: node'],
  compatibility = ['svc_version: ">=0.1.0"'],
  lines = [],
  files = { 'agent/main.mjs': IDLE },
  signer: by = null,
}: Made): Promise<string> {
  const folder = await tempDir();
  const manifest = [
    'schema_version: 3',
    `id: ${id}`,
    `version: ${version}`,
    'name: Thing',
    'license: Apache-2.0',
    'compatibility:',
    ...compatibility.map((line) => `  ${line}`),
    ...(agent === null ? [] : ['agent:', ...agent.map((line) => `  ${line}`)]),
    ...lines,
  ];
  for (const [path, content] of Object.entries({ ...files, 'manifest.yaml': `${manifest.join('\n')}\n` })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const archive = join(await tempDir(), `${id}-${version}.svcplug`);
  await packFolder(folder, by === null ? {} : { sign: { key: by.key, signer: by.id } }, archive);
  return archive;
}

/** A multipart body with an archive. */
export async function formWith(archive: string | Buffer): Promise<FormData> {
  const form = new FormData();
  const bytes = typeof archive === 'string' ? await readFile(archive) : archive;
  form.set('file', new Blob([new Uint8Array(bytes)]), 'thing.svcplug');
  return form;
}

/** Files of an agent in JavaScript with the SDK beside it. @param main the text of `agent/main.mjs` after its import */
export async function withSdk(main: string): Promise<Readonly<Record<string, string>>> {
  const read = async (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');
  return {
    'agent/main.mjs': `import { connect } from './svc-extension.mjs';\nconst svc = await connect();\n${main}`,
    'agent/svc-extension.mjs': await read('deploy/extensions/sdk/svc-extension.mjs'),
    'agent/msgpack.cjs': await read('node_modules/@msgpack/msgpack/dist.umd/msgpack.min.js'),
  };
}
