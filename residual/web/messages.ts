import { parse } from '@formatjs/icu-messageformat-parser';
import type { Plugin } from 'vite';

/** The parser is most of the library for messages, and nothing that a browser has to load: what it needs of it is in `no-parser`. */
export const NO_PARSER = {
  find: /^@formatjs\/icu-messageformat-parser$/,
  replacement: '@formatjs/icu-messageformat-parser/no-parser.js',
};

/** Parses the messages of the catalogues while the page is built. Those without arguments stay what they are, texts. */
export function parsedMessages(): Plugin {
  return {
    name: 'svc-messages',
    enforce: 'pre',
    transform: (code, id) =>
      /\/src\/locales\/.*\.json(?:\?|$)/.test(id) ? JSON.stringify(JSON.parse(code, withParsed)) : null,
  };
}

function withParsed(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.includes('{')
    ? { icu: parse(value, { ignoreTag: true }) }
    : value;
}
