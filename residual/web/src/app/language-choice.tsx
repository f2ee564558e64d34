import type { JSX } from 'preact';
import { chooseLanguage, chosenLanguage, LANGUAGE_NAMES, LANGUAGES } from '../language/language.ts';
import { t } from '../strings.ts';

export function LanguageChoice(): JSX.Element {
  return (
    <label class="field">
      {t.app.language.label}
      <select
        value={chosenLanguage ?? ''}
        onChange={({ currentTarget: { value } }) =>
          chooseLanguage(LANGUAGES.find((id) => id === value) ?? null)
        }
      >
        <option value="">{t.app.language.auto}</option>
        {LANGUAGES.map((id) => (
          <option key={id} value={id} lang={id}>
            {LANGUAGE_NAMES[id]}
          </option>
        ))}
      </select>
    </label>
  );
}
