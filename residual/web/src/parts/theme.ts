import { computed, effect, signal } from '@preact/signals';

const STORED = 'svc-theme';
export const THEMES = ['auto', 'light', 'dark', 'sun'] as const;
type Theme = (typeof THEMES)[number];

/** As it was chosen; `auto`: as the system's. */
export const theme = signal<Theme>(THEMES.find((name) => name === localStorage.getItem(STORED)) ?? 'auto');

const system = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(system.matches);
system.addEventListener('change', () => {
  isSystemDark.value = system.matches;
});

/** As it is shown. */
export const shownTheme = computed<Exclude<Theme, 'auto'>>(() =>
  theme.value !== 'auto' ? theme.value : isSystemDark.value ? 'dark' : 'light',
);

// What the style sheets go by: so the colours of the dark theme stand there once.
effect(() => {
  document.documentElement.dataset['theme'] = shownTheme.value;
});

effect(() => {
  if (theme.value === 'auto') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, theme.value);
});
