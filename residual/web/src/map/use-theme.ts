import { useEffect, useState } from 'preact/hooks';
import { theme } from '../parts/theme.ts';

/** The theme that is shown, for what is drawn and not styled: changes when its colours do. */
export function useTheme(): 'light' | 'dark' {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [system, setSystem] = useState(query.matches);
  useEffect(() => {
    const change = (): void => setSystem(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  const isDark = theme.value === 'auto' ? system : theme.value === 'dark';
  return isDark ? 'dark' : 'light';
}
