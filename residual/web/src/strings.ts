import { en } from './strings/en.ts';

/** The sentences in the language of the page. */
export const t: typeof en = en;
