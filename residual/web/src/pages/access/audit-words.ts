import { language } from '../../language/language.ts';
import { type Words, wordsOf } from '../../language/words.ts';
import type { AuditArguments } from '../../locales/arguments.ts';
import type english from '../../locales/en/audit.json';

const catalogue: { readonly default: typeof english } = await import(`../../locales/${language}/audit.json`, {
  with: { type: 'json' },
});
/** The sentences of the audit, loaded with what shows it: no first view waits for them. */
export const auditWords: Words<typeof english, AuditArguments> = wordsOf(catalogue.default, language);
