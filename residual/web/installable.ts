import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HtmlTagDescriptor, type Plugin, type Rolldown, transformWithOxc } from 'vite';
import { iconPng, iconSvg } from './icon.ts';

/** The map's library is larger, and of no use without the node. */
const MAX_KEPT_BYTES = 256 * 1024;
/** As `--back` in src/styles/page.css. */
const THEME = { light: '#f3f5f7', dark: '#0b0f14' } as const;

interface BuiltAsset {
  /** Below the root of the page, with a hash of what it holds. */
  readonly name: string;
  readonly source: string | Uint8Array;
}

/**
 * What makes the node's page an app: its icons and manifest, and the service worker, which keeps the files of this build.
 * @param version of the node that serves this page; another one has another page
 */
export function installable(version: string): Plugin {
  const icons = {
    svg: made('icon', 'svg', iconSvg()),
    small: made('icon', 'png', iconPng(192)),
    large: made('icon', 'png', iconPng(512)),
    masked: made('icon', 'png', iconPng(512, { masked: true })),
    touch: made('icon', 'png', iconPng(180, { masked: true })),
  };
  const manifest = made('app', 'webmanifest', manifestText(icons));
  return {
    name: 'svc-installable',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_, { path }) => (path === '/index.html' ? tags(icons, manifest, version) : []),
    },
    generateBundle: {
      order: 'post',
      async handler(_, bundle) {
        for (const { name, source } of [...Object.values(icons), manifest])
          this.emitFile({ type: 'asset', fileName: name, source });
        const index = bundle['index.html'];
        if (index?.type !== 'asset') throw new Error('the build has no index.html');
        const names = [...keptFiles(bundle), icons.svg.name].toSorted();
        const page = String(index.source);
        const build = shortHash(page + names.join(' '));
        index.source = page.replace('__BUILD__', build);
        this.emitFile({ type: 'asset', fileName: 'sw.js', source: await workerScript(build, names) });
      },
    },
  };
}

type Icons = Readonly<Record<'svg' | 'small' | 'large' | 'masked' | 'touch', BuiltAsset>>;

function manifestText({ svg, small, large, masked }: Icons): string {
  const icon = ({ name }: BuiltAsset, sizes: string, type: string, purpose = 'any') => ({
    src: `/${name}`,
    sizes,
    type,
    purpose,
  });
  return JSON.stringify({
    id: '/',
    name: 'svc',
    short_name: 'svc',
    description: 'The page of a drone’s companion computer, or of its ground station.',
    start_url: '/',
    scope: '/',
    display: 'standalone',
    background_color: THEME.dark,
    theme_color: THEME.dark,
    icons: [
      icon(svg, 'any', 'image/svg+xml'),
      icon(small, '192x192', 'image/png'),
      icon(large, '512x512', 'image/png'),
      icon(masked, '512x512', 'image/png', 'maskable'),
    ],
  });
}

function tags({ svg, touch }: Icons, manifest: BuiltAsset, version: string): HtmlTagDescriptor[] {
  const link = (rel: string, { name }: BuiltAsset, more: Record<string, string> = {}): HtmlTagDescriptor => ({
    tag: 'link',
    attrs: { rel, href: `/${name}`, ...more },
    injectTo: 'head',
  });
  const meta = (attrs: Record<string, string>): HtmlTagDescriptor => ({
    tag: 'meta',
    attrs,
    injectTo: 'head',
  });
  return [
    link('icon', svg, { type: 'image/svg+xml' }),
    link('apple-touch-icon', touch),
    link('manifest', manifest),
    ...Object.entries(THEME).map(([scheme, content]) =>
      meta({ name: 'theme-color', media: `(prefers-color-scheme: ${scheme})`, content }),
    ),
    meta({ name: 'svc-version', content: version }),
    meta({ name: 'svc-build', content: '__BUILD__' }),
  ];
}

/** Scripts and styles that the node's page may load, each named by its content. */
function keptFiles(bundle: Rolldown.OutputBundle): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (name: string): void => {
    const file = bundle[name];
    if (file?.type !== 'chunk' || found.has(name)) return;
    if (file.code.length <= MAX_KEPT_BYTES) found.add(name);
    for (const style of file.viteMetadata?.importedCss ?? []) found.add(style);
    for (const next of [...file.imports, ...file.dynamicImports]) look(next);
  };
  const entry = Object.values(bundle).find(
    (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith('/index.html'),
  );
  if (entry === undefined) throw new Error('the build has no script of index.html');
  look(entry.fileName);
  return found;
}

async function workerScript(build: string, names: readonly string[]): Promise<string> {
  const path = join(import.meta.dirname, 'src/worker/sw.ts');
  const { code } = await transformWithOxc(readFileSync(path, 'utf8'), path);
  return code.replace('__BUILD__', build).replace('__FILES__', names.map((name) => `/${name}`).join(' '));
}

function made(name: string, extension: string, source: string | Uint8Array): BuiltAsset {
  return { name: `assets/${name}-${shortHash(source)}.${extension}`, source };
}

function shortHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 8);
}
