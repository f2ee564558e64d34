import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { CONFIG_FILE, configDocument } from './support/config-file.ts';
import { ROOT } from './support/node.ts';
import { anchorsOf, prose } from './support/page-parts.ts';
import { blocksOf, TYPED, TYPED_PAGES } from './support/shown-shell.ts';

/** Languages of the blocks that nobody types. */
const SHOWN_ONLY = ['json', 'nginx', 'text', 'yaml'];
/** Blocks with a mark that says why no test runs them: few, or the pages are not tested. */
const MOST_NOT_RUN = 10;
const INDEX = 'docs/README.md';

/** A link of a page: the file, from the root of the checkout, and the part of it that is named; empty for none. */
interface Link {
  readonly file: string;
  readonly anchor: string;
}

/** The links of a page to files and parts of files; those to other hosts are left out. */
function linksOf(page: string): readonly Link[] {
  return [
    ...prose(page)
      .replaceAll(/`[^`]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#');
      return { file: path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path)), anchor };
    });
}

describe('README and docs', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

  it('every link leads to a file that is there, and to a part that it has', () => {
    const wrong = pages.flatMap((page) =>
      linksOf(page)
        .filter(
          ({ file, anchor }) =>
            !existsSync(join(ROOT, file)) ||
            (anchor !== '' && !(file.endsWith('.md') && anchorsOf(file).includes(anchor))),
        )
        .map(({ file, anchor }) => `${page}: ${file}#${anchor}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('every file of docs is reached from its index, a page or its folder', () => {
    const reached = new Set<string>([INDEX]);
    for (const page of reached) {
      if (!page.endsWith('.md') || !page.startsWith('docs/')) continue;
      for (const { file } of linksOf(page)) if (existsSync(join(ROOT, file))) reached.add(file);
    }
    const lost = globSync('docs/**/*', { cwd: ROOT })
      .filter((file) => statSync(join(ROOT, file)).isFile())
      .filter((file) => !reached.has(file) && !reached.has(dirname(file)));
    expect(lost).to.deep.equal([]);
  });

  it('every block says what it is; test/e2e/typed-pages.ts runs what is typed, but for a few with a reason', () => {
    const blocks = TYPED_PAGES.flatMap((page) =>
      blocksOf(readFileSync(join(ROOT, page), 'utf8')).map((block) => ({ page, ...block })),
    );
    const wrong = blocks.filter(({ language, notRun, lines }) =>
      TYPED.includes(language)
        ? notRun === ''
        : !SHOWN_ONLY.includes(language) || notRun !== null || lines.some((line) => line.startsWith('$ ')),
    );
    expect(wrong.map(({ page, at }) => `${page}:${at}`)).to.deep.equal([]);
    expect(blocks.filter(({ notRun }) => notRun !== null).length).to.be.at.most(MOST_NOT_RUN);
  });

  it('docs/configuration.md is made of the schema; if not, run npm run docs', () => {
    expect(readFileSync(CONFIG_FILE, 'utf8')).to.equal(configDocument());
  });
});
