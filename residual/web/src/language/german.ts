import { english } from './english.ts';

/** Every German word of the page: it says what the English words say. */
export const german: typeof english = english;
