import { english } from './language/english.ts';
import { language } from './language/language.ts';

/** The words of the page in the language of whoever looks at it. Another than English is loaded before anything is drawn. */
export const t: typeof english = language === 'de' ? (await import('./language/german.ts')).german : english;
