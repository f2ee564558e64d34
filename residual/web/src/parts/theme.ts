import { effect, signal } from '@preact/signals';

const STORED = 'svc-theme';
export const THEMES = ['auto', 'light', 'dark', 'sun'] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === localStorage.getItem(STORED)) ?? 'auto');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  if (theme.value === 'auto') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, theme.value);
});
