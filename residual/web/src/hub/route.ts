import { signal } from '@preact/signals';
import { decodedPart } from '../parts/hash.ts';

/** Where the page is: `#/page`, `#/fleet/<node>` for one node, `#/flights/<id>` for one flight. */

export const PAGES = ['fleet', 'wall', 'flights', 'enrol', 'access', 'audit'] as const;
export type PageId = (typeof PAGES)[number];

export const place = signal<{ readonly page: PageId; readonly node: string | null; readonly flight: string }>(
  read(),
);

addEventListener('hashchange', () => {
  place.value = read();
});

export function hrefOf(page: PageId, of?: string): string {
  return `#/${page}${of === undefined ? '' : `/${encodeURIComponent(of)}`}`;
}

export function go(page: PageId, of?: string): void {
  location.hash = hrefOf(page, of);
}

function read(): { page: PageId; node: string | null; flight: string } {
  const [page, node] = location.hash.replace(/^#\/?/, '').split('/');
  const id = PAGES.find((each) => each === page) ?? 'fleet';
  const what = node === undefined || node === '' ? null : decodedPart(node);
  return id === 'flights'
    ? { page: id, node: null, flight: what ?? '' }
    : { page: id, node: what, flight: '' };
}
