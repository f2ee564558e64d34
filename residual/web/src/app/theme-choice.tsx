import type { JSX } from 'preact';
import { type Theme, theme } from '../parts/theme.ts';
import { t } from '../strings.ts';

export function ThemeChoice(): JSX.Element {
  return (
    <label>
      {t.app.theme.label}
      <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
        {(['auto', 'light', 'dark'] as const).map((name) => (
          <option key={name} value={name}>
            {t.app.theme[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
