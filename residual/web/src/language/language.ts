/** The language of the page: what was chosen here, else the browser's first one that there is. */

import { keysOf } from '../../../../shared/member.ts';

/** Each in its own language, so that whoever is lost finds the way back. */
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGE_NAMES;
export const LANGUAGES = keysOf(LANGUAGE_NAMES);

const STORED = 'svc-language';

/** What was chosen in this browser; null: as the browser has it. A worker has no such store: the page names it after the language. */
export const chosenLanguage: Language | null = known(
  'localStorage' in globalThis
    ? (localStorage.getItem(STORED) ?? '')
    : String(Reflect.get(globalThis, 'name')),
);

export const language: Language =
  chosenLanguage ?? (globalThis.navigator?.languages ?? []).map(known).find((each) => each !== null) ?? 'en';

/** The page is loaded anew in that language. */
export function chooseLanguage(next: Language | null): void {
  if (next === null) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, next);
  location.reload();
}

function known(tag: string): Language | null {
  const [base] = tag.toLowerCase().split('-');
  return LANGUAGES.find((each) => each === base) ?? null;
}
