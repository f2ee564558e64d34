import { language } from '../../language/language.ts';
import { wordFor } from '../../language/words.ts';

/** Under the English of the schema (shared/config/), which the node sends. */
const words: Readonly<Record<string, string>> =
  language === 'en'
    ? {}
    : (
        (await import(`../../locales/${language}/config.json`, { with: { type: 'json' } })) as {
          readonly default: Readonly<Record<string, string>>;
        }
      ).default;

/** A text of the config's schema in the language of whoever looks; in English where a node of another version says it otherwise. */
export function configWords(text: string): string {
  return wordFor(words, text) ?? text;
}
