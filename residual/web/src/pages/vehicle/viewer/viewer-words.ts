import { type Language, language } from '../../../language/language.ts';
import { type Words, wordsOf } from '../../../language/words.ts';
import type { LogViewerArguments } from '../../../locales/arguments.ts';
import german from '../../../locales/de/log-viewer.json' with { type: 'json' };
import english from '../../../locales/en/log-viewer.json' with { type: 'json' };

const CATALOGUES: Readonly<Record<Language, typeof english>> = { en: english, de: german };

/**
 * The words of the log viewer, which is loaded on its own, and of its worker. Every language is in it: a worker that waits for a module
 * loses what it was asked meanwhile.
 */
export const viewerWords: Words<typeof english, LogViewerArguments> = wordsOf(CATALOGUES[language], language);
