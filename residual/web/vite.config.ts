import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defineConfig, type Plugin, transformWithOxc } from 'vite';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { VERSION } from '../../shared/version.ts';
import { installable } from './installable.ts';
import { mavlinkMessages } from './mavlink-fields.ts';
import { NO_PARSER, parsedMessages } from './messages.ts';

/**
 * Builds the pages into `dist`: the node's, which svc-residual serves, and the fleet's, which svc-hub serves. `npm run dev:web` serves
 * the sources, with a running node (and a hub, for `/hub.html`) behind them.
 */

const ROWS_MODULE = 'virtual:rows';
const MAVLINK_MODULE = 'virtual:mavlink';

const KEPT = [
  'method',
  'path',
  'access',
  'scope',
  'relay',
  'armed',
  'names',
  'profiles',
  'feature',
  'built',
  'long',
  'ticket',
] as const satisfies readonly (keyof Row)[];

/** The route table without its schemas, so that the page asks, offers and hides by the same rows as the node. */
function rows(): Plugin {
  const slim = ROWS.map((row: Row) => [
    row.id,
    { ...Object.fromEntries(KEPT.map((member) => [member, row[member]])), timeoutMs: row.limits.timeoutMs },
  ]);
  return virtual(ROWS_MODULE, () => Object.fromEntries(slim));
}

/** The messages of MAVLink, for the worker of the log viewer alone. */
function mavlink(): Plugin {
  return virtual(MAVLINK_MODULE, mavlinkMessages);
}

/** A module that is made here. */
function virtual(module: string, make: () => unknown): Plugin {
  return {
    name: `svc-${module}`,
    resolveId: (id) => (id === module ? `\0${module}` : null),
    load: (id) => (id === `\0${module}` ? `export default ${JSON.stringify(make())}` : null),
  };
}

/** The script of the frame of extensions: a file of its own that is no module, since the frame may load none. */
async function frame(): Promise<Plugin> {
  const path = join(import.meta.dirname, 'src/frame/frame.ts');
  const { code } = await transformWithOxc(readFileSync(path, 'utf8'), path);
  const hash = createHash('sha256').update(code).digest('base64url').slice(0, 8);
  const fileName = `assets/frame-${hash}.js`;
  return {
    name: 'svc-frame',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: code });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_, { path: page }) =>
        page === '/frame.html'
          ? [{ tag: 'script', attrs: { src: `/${fileName}`, defer: true }, injectTo: 'head' }]
          : [],
    },
  };
}

const NODE = process.env['SVC_NODE'] ?? 'http://127.0.0.1:8080';
const HUB = process.env['SVC_HUB'] ?? 'http://127.0.0.1:8190';

export default defineConfig({
  root: join(import.meta.dirname, 'src'),
  // Under `/assets/`, the one path that the node serves files from.
  base: '/',
  plugins: [rows(), parsedMessages(), frame(), installable(VERSION)],
  resolve: { alias: [NO_PARSER] },
  // A catalogue is one value: as a text it is smaller, and read faster.
  json: { namedExports: false },
  // A class of a page's own sheet is `fly__picture` wherever it is seen: no other sheet can meet it.
  css: {
    modules: { generateScopedName: (name, file) => `${basename(file, '.module.css')}__${name}` },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // The workers of the map and of the log viewer, modules beside the others.
  worker: { format: 'es', plugins: () => [mavlink(), parsedMessages()] },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    assetsDir: 'assets',
    // The page's policy forbids inline data where a file will do.
    assetsInlineLimit: 0,
    target: ['chrome111', 'firefox115', 'safari16.4'],
    modulePreload: { polyfill: false },
    // The map's library, which is loaded only where there is a map file.
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      input: ['index.html', 'hub.html', 'frame.html'].map((name) => join(import.meta.dirname, 'src', name)),
    },
  },
  server: {
    proxy: {
      '/v1': HUB,
      '/api': { target: NODE, ws: true },
      '/whep': NODE,
      '/healthz': NODE,
      '/openapi.json': NODE,
      '/metrics': NODE,
      '/assets': NODE,
    },
  },
});
