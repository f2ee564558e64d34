import { signal } from '@preact/signals';

/** Parameters that somebody keeps at hand in this browser. */

const STORED = 'svc-param-favourites';
const MOST = 200;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,15}$/;

export const favourites = signal<ReadonlySet<string>>(read());

export function keepFavourite(name: string, isKept: boolean): void {
  const next = new Set(favourites.value);
  if (isKept) next.add(name);
  else next.delete(name);
  favourites.value = new Set([...next].slice(-MOST));
  try {
    localStorage.setItem(STORED, JSON.stringify([...favourites.value]));
  } catch (error) {
    // A browser that keeps nothing: it lasts as long as the page.
    if (!(error instanceof DOMException)) throw error;
  }
}

/** Whatever else stands there is no favourite. */
function read(): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    const names = Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : [];
    return new Set(names.filter((name) => NAME.test(name)).slice(0, MOST));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return new Set();
    throw error;
  }
}
