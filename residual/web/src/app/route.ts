import { signal } from '@preact/signals';
import { takeTicket } from '../api/handover.ts';
import { decodedPart } from '../parts/hash.ts';

/** Where the page is: `#/page/tab`. The node serves one document at `/` and `/setup`. */

export const PAGES = ['fly', 'plan', 'vehicle', 'node', 'extensions', 'access', 'ground', 'setup'] as const;
export type PageId = (typeof PAGES)[number];

export interface Place {
  readonly page: PageId;
  /** What the page makes of it: a tab, an item. */
  readonly rest: readonly string[];
}

// Of a ticket in the address nothing may be left, wherever the page goes.
takeTicket();

export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export function hrefOf(page: PageId, ...rest: readonly string[]): string {
  return `#/${[page, ...rest].map(encodeURIComponent).join('/')}`;
}

export function go(page: PageId, ...rest: readonly string[]): void {
  location.hash = hrefOf(page, ...rest);
}

function read(): Place {
  const [page, ...rest] = location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decodedPart);
  const known = PAGES.find((id) => id === page);
  return { page: known ?? (location.pathname.startsWith('/setup') ? 'setup' : 'fly'), rest };
}
