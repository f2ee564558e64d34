import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

/** Which class of the page is styled where: the sheets that all pages share, and each page's own, a CSS module. */

const SRC = join(import.meta.dirname, '../residual/web/src');
const sheets = globSync('**/*.css', { cwd: SRC });
const modules = sheets.filter((file) => file.endsWith('.module.css'));
const NAME = /\.([A-Za-z][\w-]*)/g;

/** Its selectors, one by one. */
function selectorsOf(sheet: string): readonly string[] {
  const text = readFileSync(join(SRC, sheet), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  return [...text.matchAll(/([^{};]+)\{/g)]
    .map(([, selectors = '']) => selectors.trim())
    .filter((selectors) => !selectors.startsWith('@'))
    .flatMap((selectors) => selectors.split(/,(?![^()]*\))/));
}

function namesIn(selectors: readonly string[]): ReadonlySet<string> {
  return new Set(selectors.flatMap((each) => [...each.matchAll(NAME)].map(([, name = '']) => name)));
}

/** Without what it takes from the sheets that all share. */
const ownPart = (selector: string): string => selector.replaceAll(/:global\([^)]*\)/g, '');

/** The classes of modules that a file names. */
const named = globSync('**/*.tsx', { cwd: SRC }).flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/import (\w+) from ['](\.[^']+\.module\.css)'/g)].flatMap(
    ([, variable, target = '']) => {
      const sheet = relative(SRC, resolve(SRC, dirname(file), target));
      return [...text.matchAll(new RegExp(`\\b${String(variable)}\\['([\\w-]+)'\\]`, 'g'))].map(
        ([, name = '']) => `${sheet} ${name}`,
      );
    },
  );
});

describe('styles of the page', () => {
  it('of the sheets that all pages share, one alone defines a class', () => {
    const shared = sheets.filter((file) => !modules.includes(file));
    const defined = shared.flatMap((file) =>
      // What stands inside of something else is that one's.
      [...namesIn(selectorsOf(file).map((selector) => selector.trim().split(/[\s>+~]/)[0] ?? ''))],
    );
    expect(defined.filter((name, at) => defined.indexOf(name) !== at)).to.deep.equal([]);
  });

  it("a page's own sheet reaches nothing outside of the page", () => {
    const reaching = modules.flatMap((file) =>
      selectorsOf(file)
        .filter((selector) => namesIn([ownPart(selector)]).size === 0)
        .map((selector) => `${file}: ${selector.trim()}`),
    );
    expect(reaching).to.deep.equal([]);
    const names = modules.map((file) => basename(file));
    expect(new Set(names).size, 'their names are in the classes').to.equal(names.length);
  });

  it('each class that a file names is in its sheet, and each that is in a sheet is named', () => {
    const defined = modules.flatMap((file) =>
      [...namesIn(selectorsOf(file).map(ownPart))].map((name) => `${file} ${name}`),
    );
    expect([...new Set(named)].sort()).to.deep.equal(defined.sort());
  });
});
