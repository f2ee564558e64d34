import { language } from './language/language.ts';
import { type Words, wordsOf } from './language/words.ts';
import type { PageArguments } from './locales/arguments.ts';
import type english from './locales/en/page.json';

const catalogue: { readonly default: typeof english } = await import(`./locales/${language}/page.json`, {
  with: { type: 'json' },
});

/** The words of the page in the language of whoever looks at it, which are loaded before anything is drawn. */
export const t: Words<typeof english, PageArguments> = wordsOf(catalogue.default, language);
