/** The page's catalogues of words, and what their messages are given. `npm run docs` writes `arguments.ts` beside them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import type { ConfigNode } from '../../shared/config/keys.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { textsIn } from '../../shared/config/settings.ts';
import { messageOf } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/member.ts';
import { ROOT } from './node.ts';

export const LOCALES = join(ROOT, 'residual/web/src/locales');
export const ARGUMENTS_FILE = join(LOCALES, 'arguments.ts');

/** Each language: the name of its folder. */
export const TAGS = readdirSync(LOCALES, { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);
/** Each catalogue: what is loaded as one. */
export const CATALOGUES = readdirSync(join(LOCALES, 'en')).map((file) => basename(file, '.json'));
/** Of the settings: its English is the config's schema, and its paths are these texts. */
export const CONFIG_CATALOGUE = 'config';

/** The messages under their paths. */
export function messagesOf(tag: string, catalogue: string): ReadonlyMap<string, string> {
  if (tag === 'en' && catalogue === CONFIG_CATALOGUE)
    return new Map(textsIn<ConfigNode>(configSchema).map((text) => [text, text]));
  const found = new Map<string, string>();
  const look = (value: unknown, path: string): void => {
    if (typeof value === 'string') found.set(path, value);
    else if (isObject(value))
      for (const [key, each] of Object.entries(value)) look(each, path === '' ? key : `${path}.${key}`);
  };
  look(parseJson(readFileSync(join(LOCALES, tag, `${catalogue}.json`), 'utf8')), '');
  return found;
}

/** @throws SyntaxError that shows what is no message */
export function elementsOf(message: string): readonly MessageFormatElement[] {
  try {
    return parse(message, { ignoreTag: true });
  } catch (error) {
    throw new SyntaxError(`“${message}” is no message: ${messageOf(error)}`, { cause: error });
  }
}

/** Every text it can be, with a 4 for each value. */
export function textsOf(elements: readonly MessageFormatElement[]): readonly string[] {
  return elements.reduce<readonly string[]>(
    (before, element) => {
      const after =
        element.type === TYPE.literal
          ? [element.value]
          : element.type === TYPE.plural || element.type === TYPE.select
            ? Object.values(element.options).flatMap(({ value }) => textsOf(value))
            : ['4'];
      return before.flatMap((text) => after.map((each) => text + each));
    },
    [''],
  );
}

/**
 * The type of each argument, under its name. A plural wants a number; a choice between `true` and `other` a boolean; one that has the case
 * `null` may have none.
 */
export function argumentsOf(elements: readonly MessageFormatElement[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const look = (element: MessageFormatElement): void => {
    if (element.type === TYPE.argument && !found.has(element.value)) found.set(element.value, 'Given');
    if (element.type !== TYPE.plural && element.type !== TYPE.select) return;
    const cases = Object.keys(element.options);
    const type =
      element.type === TYPE.plural
        ? 'number'
        : cases.includes('true')
          ? 'boolean'
          : cases.includes('null')
            ? 'Given | null'
            : 'Given';
    if (type !== 'Given' || !found.has(element.value)) found.set(element.value, type);
    for (const option of Object.values(element.options)) option.value.forEach(look);
  };
  elements.forEach(look);
  return found;
}

/** @returns the whole text of the file */
export function argumentsDocument(): string {
  const interfaces = CATALOGUES.map((catalogue) => {
    const languages = TAGS.map((tag) => messagesOf(tag, catalogue));
    const lines = [...messagesOf('en', catalogue).keys()].flatMap((path) => {
      const elements = languages.flatMap((messages) => elementsOf(messages.get(path) ?? ''));
      const types = [...argumentsOf(elements)].map(([name, type]) => `${name}: ${type}`);
      if (types.length === 0) return [];
      const name = /^[a-z]\w*$/i.test(path) ? path : `'${path}'`;
      const line = `  readonly ${name}: { ${types.join('; ')} };`;
      return line.length <= 110
        ? [line]
        : [`  readonly ${name}: {`, ...types.map((each) => `    ${each};`), '  };'];
    });
    const name = catalogue.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
    return `\nexport interface ${name}Arguments {\n${lines.join('\n')}\n}\n`;
  });
  return `/** Made from \`en/*.json\` by \`npm run docs\`; do not edit it: what the messages with arguments are given. */\n\ntype Given = string | number;\n${interfaces.join('')}`;
}

if (import.meta.main) writeFileSync(ARGUMENTS_FILE, argumentsDocument());
