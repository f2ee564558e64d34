import { language } from '../../../language/language.ts';
import { english } from './english.ts';
import { viewerWordsDe } from './viewer-words.de.ts';

/**
 * The words of the log viewer, which is loaded on its own, and of its worker. Both languages are in it: a worker that waits for a module
 * loses what it was asked meanwhile.
 */
export const viewerWords: typeof english = language === 'de' ? viewerWordsDe : english;
