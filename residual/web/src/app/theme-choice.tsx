import type { JSX } from 'preact';
import { THEMES, theme } from '../parts/theme.ts';
import { t } from '../strings.ts';

export function ThemeChoice(): JSX.Element {
  return (
    <label class="field">
      {t.app.theme.label}
      <select
        value={theme.value}
        onChange={({ currentTarget: { value } }) => {
          theme.value = THEMES.find((name) => name === value) ?? theme.value;
        }}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {t.app.theme[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
