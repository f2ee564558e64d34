import { language } from '../language/language.ts';
import { english } from './english.ts';

/** The words of the fleet's page in the language of whoever looks at it. */
export const hub: typeof english = language === 'de' ? (await import('./hub-words.de.ts')).hubDe : english;
