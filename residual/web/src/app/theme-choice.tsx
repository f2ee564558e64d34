import type { JSX } from 'preact';
import { t } from '../strings.ts';
import { type Theme, theme } from './theme.ts';

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
