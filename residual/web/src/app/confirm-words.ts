import { language } from '../language/language.ts';
import { type Words, wordsOf } from '../language/words.ts';
import type { ConfirmArguments } from '../locales/arguments.ts';
import type english from '../locales/en/confirm.json';

const catalogue: { readonly default: typeof english } = await import(`../locales/${language}/confirm.json`, {
  with: { type: 'json' },
});
/** The words of calls that wait for a signature, loaded with the first of them. */
export const confirmWords: Words<typeof english, ConfirmArguments> = wordsOf(catalogue.default, language);
