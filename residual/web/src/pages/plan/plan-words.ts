import { language } from '../../language/language.ts';
import { type Words, wordsOf } from '../../language/words.ts';
import type { PlanArguments } from '../../locales/arguments.ts';
import type english from '../../locales/en/plan.json';

const catalogue: { readonly default: typeof english } = await import(`../../locales/${language}/plan.json`, {
  with: { type: 'json' },
});
/** The words of Plan, loaded with it. */
export const planWords: Words<typeof english, PlanArguments> = wordsOf(catalogue.default, language);
