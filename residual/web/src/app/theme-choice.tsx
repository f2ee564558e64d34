import type { JSX } from 'preact';
import { type Theme, theme } from '../parts/theme.ts';
import { t } from '../strings.ts';

const THEMES = ['auto', 'light', 'dark'] as const satisfies readonly Theme[];

export function ThemeChoice(): JSX.Element {
  return (
    <label>
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
