import { language } from '../language/language.ts';
import { type Words, wordsOf } from '../language/words.ts';
import type { HubArguments } from '../locales/arguments.ts';
import type english from '../locales/en/hub.json';

const catalogue: { readonly default: typeof english } = await import(`../locales/${language}/hub.json`, {
  with: { type: 'json' },
});

/** What the fleet's page says beside the words of the node's, in the language of whoever looks at it. */
export const hub: Words<typeof english, HubArguments> = wordsOf(catalogue.default, language);
