import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { parseAst } from 'vite';
import { STARTED_BY_PATH } from '../deploy/build/bundle-processes.ts';
import packageJson from '../package.json' with { type: 'json' };
import { memberOf } from '../shared/member.ts';
import { anchorsOf } from './support/page-parts.ts';

const ROOT = join(import.meta.dirname, '..');
const everyFile = globSync('{shared,front,residual,connector,bin,deploy}/**/*.{ts,tsx}', {
  cwd: ROOT,
  exclude: ['residual/web/dist/**', 'deploy/extensions/**'],
});
/** Runs in a browser, or builds what does: what it imports is bundled, and is no dependency of a node that runs. */
const isWeb = (file: string): boolean => file.startsWith('residual/web/');
const files = everyFile.filter((file) => !isWeb(file));

const OWN_THREAD = 'shared/async/own-thread.ts';

/** What each top folder may import besides itself (docs/architecture.md): nothing walks back up. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  front: ['shared'],
  residual: ['shared'],
  connector: ['shared'],
  bin: ['shared', 'front', 'residual', 'connector'],
  deploy: ['shared', 'bin', 'front', 'connector'],
};

/** The folders and files of a process from the ground up: each imports what is below it, and nothing beside it. What is not named is the roof. */
const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  shared: [
    ['json-depth.ts'],
    [
      'board.ts',
      'certificates',
      'foreign-json.ts',
      'link-file.ts',
      'mask.ts',
      'mavlink',
      'member.ts',
      'metrics.ts',
      'paths.ts',
      'person-code.ts',
      'plain-text.ts',
      'profile.ts',
      'radio',
      'radio-keys.ts',
      'random.ts',
      'version.ts',
      'wifi-channel.ts',
    ],
    ['auth', 'errors.ts', 'units.ts', 'vision'],
    ['async', 'boot-clock.ts', 'flight'],
    ['files', 'landscape', 'logs', 'mdns', 'schemas'],
    ['json-file.ts', 'maps'],
    ['config', 'mission', 'operator', 'plugins', 'radio-slots.ts'],
    ['first-boot', 'process', 'routes', 'update'],
    ['machine-work.ts'],
    ['audit', 'fleet', 'http', 'tiles', 'video'],
    ['hub-api', 'reports', 'rpc'],
    ['media'],
  ],
  'front/control': [
    ['edge', 'param-metadata'],
    ['stores'],
    ['middleware', 'node'],
    ['forward'],
    ['relay'],
    ['radio', 'network', 'ground', 'fleet', 'pilot', 'tls'],
    ['native', 'sockets'],
  ],
  'front/machine': [['first-boot', 'iw.ts', 'network'], ['machine.ts']],
  'front/link': [
    ['clock.ts', 'part.ts', 'signer.ts'],
    ['encode.ts', 'own-heartbeat.ts', 'send-watch.ts', 'udp-socket.ts'],
    ['exchange.ts', 'router'],
    ['camera', 'endpoints', 'inspector', 'remote-id', 'vehicle'],
    ['speaking.ts'],
    ['commands', 'ftp', 'logs', 'missions', 'sources', 'tlog'],
    ['corrections', 'metadata'],
    ['events', 'params'],
    ['calibration', 'signing'],
    ['routing.ts'],
  ],
  'residual/video': [
    ['drawing'],
    ['engine'],
    ['decoder'],
    ['frames', 'live', 'outputs', 'recorder', 'sources', 'viewers'],
  ],
  'residual/web/src': [
    ['frame', 'language', 'locales', 'styles', 'virtual-rows.d.ts', 'worker'],
    ['strings.ts'],
    ['api'],
    ['parts', 'video'],
    ['app', 'map'],
    ['commands'],
    ['vehicle'],
    ['extensions', 'network'],
    ['pages'],
    ['hub'],
  ],
  // No page knows another.
  'residual/web/src/pages': [['access', 'extensions', 'fly', 'ground', 'node', 'plan', 'setup', 'vehicle']],
  bin: [
    ['conformance', 'helper', 'hub', 'places.ts', 'sim', 'terminal', 'top'],
    ['client'],
    ['cli', 'doctor', 'plugin', 'supervisor'],
    ['support-bundle'],
    ['commands'],
  ],
  'bin/hub': [
    ['config.ts', 'places.ts'],
    ['database'],
    ['keys'],
    ['stores'],
    ['broker', 'disk.ts', 'flights', 'init.ts', 'maps.ts'],
    ['audit.ts', 'fleet'],
    ['authority', 'people', 'replicas'],
    ['api'],
    ['hub.ts'],
  ],
  'bin/sim': [
    ['camera', 'mavlink-values.ts', 'params', 'timers.ts'],
    ['faults.ts'],
    ['flight'],
    ['mavlink'],
    ['firmware'],
    ['autopilot.ts', 'transports'],
    ['loop.ts', 'options'],
    ['unit.ts'],
    ['fleet.ts'],
    ['simulator.ts'],
  ],
  'bin/sim/camera': [['landscape']],
  connector: [
    ['denial.ts', 'loopback.ts', 'mask-arguments.ts', 'rows.ts', 'toolsets.ts', 'plain-words.ts'],
    [
      'argument-types.ts',
      'audit',
      'flights.ts',
      'neighbours.ts',
      'principal.ts',
      'settings.ts',
      'short-text.ts',
    ],
    ['planes'],
    ['reach-facts.ts'],
    ['tools', 'verify.ts'],
    ['gate'],
    ['authenticate.ts', 'completion.ts', 'pages.ts', 'sending.ts', 'strict-server.ts'],
    ['calls.ts', 'prompts.ts'],
    ['resources.ts'],
    ['server.ts'],
    ['transports'],
  ],
  'residual/app': [
    ['link-connection.ts', 'link-state.ts', 'download.ts', 'form-upload.ts', 'kept-files.ts'],
    ['base.ts', 'kept-logs.ts', 'fleet-outbox.ts'],
    ['config', 'logs', 'whep', 'maps', 'dashboard', 'tlogs', 'uploads'],
    ['video', 'vision', 'peripherals', 'setup', 'reports'],
    ['plugins', 'flights'],
  ],
};

/** A path in this repository with an extension, as comments and documents name one; a page below any folder. Links: docs.spec.ts. */
const REPOSITORY_FILE =
  /(?<![\w./$}-]|\]\()(?:(?:shared|front|residual|connector|bin|test|deploy|docs)\/(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|js|tsv|yml|json|sh|service|socket|conf|css|html|png)|[a-z]+\/(?:[a-z-]+\/)*[a-z-]+\.md)\b/g;
/** An id of an attack case: no percent-encoding, no part of a longer word. */
const CASE = /(?<![%\w])[A-K]\d{1,2}\b/g;

const EXPORTED =
  /^export (?:abstract |async )?(?:interface|type|const|function\*?|class|enum) ([A-Za-z_$][\w$]*)/gm;

/** Whatever somebody may read. */
const texts = globSync(
  [
    '*.md',
    'package.json',
    '{shared,front,residual,connector,bin,test,deploy,docs}/**/*.{ts,tsx,js,md,sh,service,socket,conf}',
  ],
  { cwd: ROOT },
).map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

interface Import {
  readonly file: string;
  readonly target: string;
}

const imports: readonly Import[] = everyFile.flatMap((file) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, target]) => ({
      file,
      target: target ?? '',
    }),
  ),
);

function place({ file, target }: Import): string {
  return target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), target)) : target;
}

/** The packages that lines of these files import, Node's own aside; the pattern's groups are what is imported. */
function packagesOf(paths: readonly string[], imported: RegExp): ReadonlySet<string> {
  const lines = paths.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .replaceAll(/\{[^{}]*\}/g, '{}')
      .split('\n'),
  );
  const targets = lines.flatMap(
    (line) =>
      imported
        .exec(line)
        ?.slice(1)
        .filter((target) => target !== undefined) ?? [],
  );
  return new Set(
    targets
      .filter((target) => !target.startsWith('node:'))
      .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')),
  );
}

/**
 * Type assertions (`x as T`, not `as const`) of the whole product: each is a place where the compiler believes what nobody has
 * checked. A new one needs another to go; where some went, the number goes down with them.
 */
const MAX_ASSERTIONS = 100;

/** The places of the assertions in a file. */
function assertionsIn(file: string): readonly string[] {
  const code = readFileSync(join(ROOT, file), 'utf8');
  const found: string[] = [];
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (memberOf(node, 'type') === 'TSAsExpression') {
      const type = memberOf(node, 'typeAnnotation');
      const [from, to] = [Number(memberOf(type, 'start')), Number(memberOf(type, 'end'))];
      if (code.slice(from, to) !== 'const') found.push(`${file}:${code.slice(0, from).split('\n').length}`);
    }
    Object.values(node).forEach(look);
  };
  look(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }));
  return found;
}

/** Files of svc-link that read what the vehicle says of itself (`Vehicle.armed`): none of them allows or refuses by it. */
const ARMED_READERS: readonly string[] = [
  'front/link/calibration/calibration.ts',
  'front/link/commands/commands.ts',
  'front/link/commands/takeoff.ts',
  'front/link/events/events.ts',
  'front/link/state.ts',
  'front/link/vehicle/prearm.ts',
];

describe('architecture', () => {
  it('imports only walk one way: shared <- front, residual, connector <- bin', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (!target.startsWith('.')) return false;
      const from = file.split('/', 1)[0] ?? '';
      const to = place({ file, target }).split('/', 1)[0] ?? '';
      return to !== from && to !== 'package.json' && !MAY_IMPORT[from]?.includes(to);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('inside a process and inside shared, imports walk down the floors', () => {
    for (const [root, floors] of Object.entries(FLOORS)) {
      const partOf = (path: string): string => relative(root, path).split('/')[0] ?? '';
      const floorOf = (path: string): number => floors.findIndex((floor) => floor.includes(partOf(path)));
      const inside = imports.filter(({ file }) => file.startsWith(`${root}/`));
      const unnamed = inside.filter(({ file }) => floorOf(file) === -1).map(({ file }) => partOf(file));
      expect(unnamed.filter((part) => !/\.tsx?$/.test(part))).to.deep.equal([]);
      const wrong = inside.filter((i) => {
        const to = place(i);
        if (!to.startsWith(`${root}/`) || floorOf(i.file) === -1 || partOf(to) === partOf(i.file))
          return false;
        return floorOf(to) === -1 || floorOf(to) >= floorOf(i.file);
      });
      expect(wrong).to.deep.equal([]);
    }
  });

  it('a folder that is a process is imported by no other', () => {
    const processes = files
      .filter((file) => /^(?:front|residual|bin)\/[a-z-]+\/main\.ts$/.test(file))
      .map((file) => `${dirname(file)}/`);
    expect(processes).to.include.members([
      'front/control/',
      'front/link/',
      'residual/app/',
      'residual/video/',
      'bin/supervisor/',
    ]);
    const processOf = (path: string): string | undefined =>
      processes.find((folder) => path.startsWith(folder));
    const across = imports.filter((i) => {
      const [from, to] = [processOf(i.file), processOf(place(i))];
      return from !== undefined && to !== undefined && from !== to;
    });
    expect(across).to.deep.equal([]);
  });

  it('a thread is a file of its own in the compiled node, and is begun in one way', () => {
    const threads = files.filter((file) => file.endsWith('-thread.ts') && file !== OWN_THREAD);
    expect(threads).to.have.length.greaterThan(3);
    for (const file of threads) expect(STARTED_BY_PATH).to.include(file.replace(/\.ts$/, ''));
    const begun = files.filter((file) => /\bnew Worker\(/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(begun).to.deep.equal([OWN_THREAD]);
  });

  it('no file imports itself by way of others, types included', () => {
    const next = Map.groupBy(
      imports.filter(({ target }) => target.startsWith('.')),
      ({ file }) => file,
    );
    const done = new Set<string>();
    const circle = (file: string, path: readonly string[]): readonly string[] | null => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return null;
      for (const entry of next.get(file) ?? []) {
        const found = circle(place(entry), [...path, file]);
        if (found !== null) return found;
      }
      done.add(file);
      return null;
    };
    for (const file of everyFile) expect(circle(file, [])?.join(' > ') ?? null).to.equal(null);
  });

  it('the simulator is a peer on a socket: nobody imports it, and it shares no MAVLink code with the link', () => {
    const into = imports.filter((i) => place(i).startsWith('bin/sim/') && !i.file.startsWith('bin/sim/'));
    expect(into).to.deep.equal([]);
    const out = imports.filter(
      (i) => i.file.startsWith('bin/sim/') && /^(?:shared\/mavlink|front|residual)\//.test(place(i)),
    );
    expect(out).to.deep.equal([]);
  });

  it('a promise that is settled from outside is made in one way, which Node 20 knows too', () => {
    const others = everyFile.filter((file) =>
      /Promise\.withResolvers\b(?!`)/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(others).to.deep.equal([]);
  });

  it('the broker is spoken to through one connection, and secrets have one mask', () => {
    const brokers = imports.filter(
      ({ file, target }) => /^mqtt(?:\/|$)/.test(target) && file !== 'shared/fleet/broker-connection.ts',
    );
    expect(brokers).to.deep.equal([]);
    const masks = files.filter(
      (file) =>
        file !== 'shared/mask.ts' && /'\*\*\*'|\[REDACTED\]/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(masks).to.deep.equal([]);
  });

  it('shared knows no Express', () => {
    expect(
      imports.filter(({ file, target }) => file.startsWith('shared/') && target === 'express'),
    ).to.deep.equal([]);
  });

  it('only composition roots read the environment and the command line', () => {
    const roots = [
      /^(?:connector|residual|(?:front|residual)\/[a-z]+)\/main\.ts$/,
      /^bin\//,
      /^deploy\/(?:build|image|package)\//,
      // A program that runs once.
      /^residual\/vision\/check-model\.ts$/,
      // Hands it on to a thread.
      /^shared\/async\/own-thread\.ts$/,
    ];
    const readers = files.filter((file) =>
      /process\.(?:env|argv)\b/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(readers.filter((file) => !roots.some((root) => root.test(file)))).to.deep.equal([]);
  });

  it('one guard: in svc-link the armed state is read as a permission, and refused by, in vehicle/guard.ts alone', () => {
    const GUARD = 'front/link/vehicle/guard.ts';
    /** Who is told of the state or records by it: no permission. */
    const TOLD = ['front/link/state.ts', 'front/link/parts.ts', 'front/link/vehicle/guard-file.ts'];
    const found = files
      .filter((file) => file.startsWith('front/link/') && file !== GUARD)
      .flatMap((file) => {
        const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
        const wrong: string[] = [];
        if (/'E_ARMED'/.test(code)) wrong.push(`${file} refuses by itself`);
        if (/\barming\.(?:of|worst)\b/.test(code)) wrong.push(`${file} reads what the guard is made of`);
        if (/\bguard\.(?:state|worst)\b/.test(code) && !TOLD.includes(file))
          wrong.push(`${file} reads the state`);
        if (/\bguard\s*[!=]==/.test(code)) wrong.push(`${file} compares the state`);
        return wrong;
      });
    expect(found).to.deep.equal([]);
    // What a vehicle says of itself is shown, and decides how a command is sent; each new reader is looked at.
    const readers = files.filter(
      (file) =>
        file.startsWith('front/link/') &&
        /\bvehicle\.armed\b/.test(
          readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, ''),
        ),
    );
    expect(readers.toSorted()).to.deep.equal(ARMED_READERS);
  });

  it('policy stands in the table: no code compares a path', () => {
    const compares = files.filter(
      (file) =>
        !file.startsWith('shared/routes/') &&
        /(?:===|!==|startsWith\()\s*['"`]\/(?:api|whep|setup|metrics|healthz)/.test(
          readFileSync(join(ROOT, file), 'utf8'),
        ),
    );
    expect(compares).to.deep.equal([]);
  });

  it('every file that a comment or a document names is there', () => {
    const missing = texts.flatMap(({ file, text }) =>
      [...text.matchAll(REPOSITORY_FILE)]
        .map(([path]) => path)
        .filter((path) => !existsSync(join(ROOT, path)))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('every part of the contract that a comment names is there', () => {
    const named = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/(docs\/contract\/[\w-]+\.md)#([\w-]+)/g)].map(([, page = '', anchor = '']) => ({
        file,
        page,
        anchor,
      })),
    );
    const wrong = named.filter(({ page, anchor }) => !anchorsOf(page).includes(anchor));
    expect(named.length).to.be.greaterThan(20);
    expect(wrong).to.deep.equal([]);
  });

  it('the attack cases that tests name are those of docs/threat-model.md, with the same files', () => {
    const model = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
    const told = [...model.matchAll(/^\| ([A-K]\d+) \| .* \| (.*) \|$/gm)].flatMap(([, id, specs]) =>
      [...(specs ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => `${id} ${file}`),
    );
    const named = texts
      .filter(({ file }) => /^test\/.*\.ts$/.test(file))
      .flatMap(({ file, text }) => [...text.matchAll(CASE)].map(([id]) => `${id} ${file}`));
    expect([...new Set(named)].toSorted()).to.deep.equal(told.toSorted());
    const elsewhere = texts.flatMap(({ text }) =>
      [...text.matchAll(/docs\/threat-model\.md ([A-K]\d+)/g)].map(([, id]) => id ?? ''),
    );
    expect(elsewhere.filter((id) => !model.includes(`| ${id} |`))).to.deep.equal([]);
  });

  it(`has no more than ${MAX_ASSERTIONS} type assertions`, () => {
    const found = everyFile.filter((file) => !file.endsWith('.d.ts')).flatMap(assertionsIn);
    expect(found.length, found.join(' ')).to.be.at.most(MAX_ASSERTIONS);
  });

  it('what is exported is named in another file', () => {
    const code = globSync('{shared,front,residual,connector,bin,deploy,test}/**/*.{ts,tsx,js,mjs}', {
      cwd: ROOT,
      exclude: ['residual/web/dist/**'],
    });
    const named = new Map<string, number>();
    for (const file of code)
      for (const word of new Set(readFileSync(join(ROOT, file), 'utf8').match(/[A-Za-z_$][\w$]*/g)))
        named.set(word, (named.get(word) ?? 0) + 1);
    const idle = everyFile.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(EXPORTED)]
        .filter(([, name = '']) => named.get(name) === 1)
        .map(([, name]) => `${file} ${name}`),
    );
    expect(idle).to.deep.equal([]);
  });

  it('what runs imports its dependencies and nothing else; each of them is imported', () => {
    const used = packagesOf(
      files.filter((file) => !file.startsWith('deploy/build/')),
      /^(?!import type\b|export type\b).*\bfrom '([^'.][^']*)'|\bimport(?:[( ]|\.meta\.resolve\()'([^'.][^']*)'\)?/,
    );
    expect([...used].toSorted()).to.deep.equal(
      Object.keys(packageJson.dependencies)
        .filter((name) => !packageJson.oclif.plugins.includes(name))
        .toSorted(),
    );
  });

  it('every import of a type or of a test is declared; each development dependency is imported, or a program', () => {
    const programs = [
      '@biomejs/biome',
      '@modelcontextprotocol/conformance',
      '@stryker-mutator/core',
      '@stryker-mutator/mocha-runner',
      'mocha',
      'oxlint',
      'oxlint-tsgolint',
      'typescript',
    ];
    const types = Object.keys(packageJson.devDependencies).filter((name) => name.startsWith('@types/'));
    const tests = globSync('test/**/*.ts', { cwd: ROOT });
    const used = packagesOf([...everyFile, ...tests], /\bfrom '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/);
    const declared = { ...packageJson.dependencies, ...packageJson.devDependencies };
    expect(
      [...used].filter((name) => !name.startsWith('virtual:') && !Object.hasOwn(declared, name)),
    ).to.deep.equal([]);
    const idle = Object.keys(packageJson.devDependencies).filter(
      (name) => ![...programs, ...types].includes(name) && !used.has(name),
    );
    expect(idle).to.deep.equal([]);
    const typed = types.map((name) => name.slice('@types/'.length));
    expect(typed.filter((name) => !used.has(name) && !['node', 'mocha'].includes(name))).to.deep.equal([]);
  });
});
