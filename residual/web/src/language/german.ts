import { mapWordsDe } from '../map/words.de.ts';
import { patternWordsDe } from '../pages/plan/pattern-words.de.ts';
import { english } from './english.ts';

/** Every German word of the page: it says what the English words say. */
export const german: typeof english = {
  ...english,
  map: mapWordsDe,
  plan: { ...english.plan, ...patternWordsDe },
};
