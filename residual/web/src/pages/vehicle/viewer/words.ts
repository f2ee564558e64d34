import { language } from '../../../language/language.ts';
import { english } from './english.ts';

/** The words of the log viewer, which is loaded on its own, and of its worker. */
export const viewerWords: typeof english =
  language === 'de' ? (await import('./words.de.ts')).viewerWordsDe : english;
