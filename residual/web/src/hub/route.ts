import { signal } from '@preact/signals';
import { decodedPart } from '../parts/hash.ts';

/** Where the page is: `#/page`, and `#/fleet/<node>` for one node. */

export const PAGES = ['fleet', 'wall', 'enrol', 'access', 'audit'] as const;
export type PageId = (typeof PAGES)[number];

export const place = signal<{ readonly page: PageId; readonly node: string | null }>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export function hrefOf(page: PageId, node?: string): string {
  return `#/${page}${node === undefined ? '' : `/${encodeURIComponent(node)}`}`;
}

export function go(page: PageId, node?: string): void {
  location.hash = hrefOf(page, node);
}

function read(): { page: PageId; node: string | null } {
  const [page, node] = location.hash.replace(/^#\/?/, '').split('/');
  const id = PAGES.find((each) => each === page) ?? 'fleet';
  return { page: id, node: node === undefined || node === '' ? null : decodedPart(node) };
}
