import { writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { ENTRIES } from '../../bin/supervisor/plan.ts';
import { type Reached, reachedFrom } from '../package/reached.ts';

/** Runs on whatever Node 20 a person has, which need not know `process.getBuiltinModule` (20.16). */
const ANY_NODE = 'connector/main';

/** Have packages of their own, with what they need alone. */
const PACKED_APART = ['bin/hub/main', ANY_NODE];

/** What else is started by its path: the supervisor, a thread, a program that runs once. */
export const STARTED_BY_PATH = [
  'bin/hub/main',
  'bin/supervisor/main',
  ANY_NODE,
  'front/control/stores/audit-writer-thread',
  'front/fleet/disk-queue-thread',
  'residual/app/logs/log-reader-thread',
  'residual/app/logs/log-writer-thread',
  'residual/app/reports/report-process',
  'residual/video/decoder/decoder-main',
  'residual/vision/check-model',
  'shared/mdns/mdns-thread',
];

/** Packages that have programs for one kind of machine, or files that they find beside themselves. */
const PACKAGES_APART = ['node-av/lib', '@serialport/bindings-cpp', 'onnxruntime-node'];

/**
 * Replaces the file that starts each process by one that has all that the process loads at its start; what it loads later stays in
 * files of its own, in `parts` beside it (what this saves: docs/footprint.md). Names stay, so that a stack trace can be read; the
 * same sources give the same bytes.
 * @param dist of tsc
 */
export async function bundleProcesses(dist: string): Promise<void> {
  for (const entry of [...Object.values(ENTRIES), ...STARTED_BY_PATH]) {
    const folder = join(dist, dirname(entry));
    const packedApart = PACKED_APART.includes(entry) ? await reachedFrom(dist, [`${entry}.js`]) : null;
    const bundle = await rolldown({
      input: { [basename(entry)]: join(dist, `${entry}.js`) },
      cwd: dist,
      platform: 'node',
      external: PACKAGES_APART,
      // Of node-av's numbers, only those that are used: the file of some of them loads FFmpeg.
      treeshake: { moduleSideEffects: [{ test: /\/node-av\//, sideEffects: false }] },
      plugins: [...(entry === ANY_NODE ? [] : [builtins()]), places(dist, folder)],
    });
    const { output } = await bundle.write({
      dir: folder,
      format: 'esm',
      chunkFileNames: `${PARTS}/${basename(entry)}/[name]-[hash].js`,
      minify: { compress: true, mangle: false, codegen: true },
    });
    await bundle.close();
    if (packedApart === null) continue;
    const chunks = output.map(({ fileName }) => relative(dist, join(folder, fileName)));
    const reached: Reached = { ...packedApart, files: [...chunks, 'package.json'].toSorted() };
    await writeFile(join(dist, `${entry}.json`), JSON.stringify(reached));
  }
}

const PARTS = 'parts';

/**
 * Node's own modules without their ESM faces: to make one, Node reads every member, and some are loaded by being read. `import
 * 'node:http'` so brings undici, 7 MiB a process.
 */
function builtins(): Plugin {
  const prefix = '\0builtin:';
  return {
    name: 'builtins',
    resolveId: (source, importer, { kind }) =>
      // Not for what rolldown adds itself, which all else is loaded with.
      kind === 'import-statement' && isBuiltin(source) && importer?.startsWith('\0') === false
        ? prefix + source
        : null,
    load(id) {
      if (!id.startsWith(prefix)) return null;
      const name = JSON.stringify(id.slice(prefix.length));
      const members = Object.keys(process.getBuiltinModule(id.slice(prefix.length)) ?? {});
      const exported = members
        .filter((member) => member !== 'default')
        .map(
          (member, index) =>
            `const m${index} = /*#__PURE__*/ of('${member}'); export { m${index} as ${member} };`,
        );
      return `const all = process.getBuiltinModule(${name}); const of = (name) => all[name];
export default all;
${exported.join('\n')}`;
    },
  };
}

/** Each module goes on finding what lies beside its own file, wherever its code stands now. */
function places(dist: string, folder: string): Plugin {
  return {
    name: 'places',
    transform(code, id) {
      if (id === join(dist, 'package.json'))
        // Read at the start: an update may not change more than it.
        return {
          code: `import{readFileSync}from'node:fs';export default JSON.parse(readFileSync(__dist+'/package.json','utf8'));`,
          moduleType: 'js',
        };
      if (!id.startsWith(dist)) return null;
      const place = JSON.stringify(`/${relative(dist, dirname(id))}`);
      return code.replaceAll('import.meta.dirname', `(__dist+${place})`);
    },
    renderChunk(code, { fileName }) {
      const up = JSON.stringify(relative(dirname(join(folder, fileName)), dist));
      const head = `import{resolve as __resolve}from'node:path';const __dist=__resolve(import.meta.dirname,${up});\n`;
      return head + ascii(code);
    },
  };
}

/** All else as escapes: one letter beyond Latin-1, and V8 keeps two bytes for each letter of the file. */
function ascii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
