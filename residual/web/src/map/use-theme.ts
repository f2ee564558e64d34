import { useEffect, useState } from 'preact/hooks';
import { theme } from '../parts/theme.ts';

/** The theme that is shown, for what is drawn and not styled: changes when its colours do. */
export function useTheme(): Exclude<typeof theme.value, 'auto'> {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [system, setSystem] = useState(query.matches);
  useEffect(() => {
    const change = (): void => setSystem(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  if (theme.value !== 'auto') return theme.value;
  return system ? 'dark' : 'light';
}
