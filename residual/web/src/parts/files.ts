import type { RowId } from '../../../../shared/routes/table.ts';
import { type Ask, call, pathOf, send } from '../api/client.ts';
import { credential } from '../api/credential.ts';
import { relayed } from '../api/relay.ts';

/** Files out of the node and into it. */

/**
 * An address that the browser opens by itself, for pictures, films and downloads: with a read ticket of ten minutes, as no header goes
 * with it.
 * @throws Refused
 */
export async function addressOf(id: RowId, ask: Pick<Ask, 'params' | 'query'> = {}): Promise<string> {
  const address = pathOf(id, ask);
  if (credential.value === null) return address;
  const asked = { scope: 'get', path: pathOf(id, { params: ask.params ?? {} }) };
  const { ticket } = await call('ws.ticket.post', {
    body: asked,
    here: true,
  });
  return `${address}${address.includes('?') ? '&' : '?'}ticket=${encodeURIComponent(ticket)}`;
}

/** Lets the browser store what a row answers. Through the relay it is fetched first, for which it must fit into memory. @throws Refused */
export async function download(
  id: RowId,
  name: string,
  ask: Pick<Ask, 'params' | 'query'> = {},
): Promise<void> {
  if (relayed.value === null) store(await addressOf(id, ask), name);
  else await fetchFile(id, name, ask);
}

/** The same for a row that no read ticket opens. It has to fit into memory. @throws Refused */
export async function fetchFile(
  id: RowId,
  name: string,
  ask: Pick<Ask, 'params' | 'query'> = {},
): Promise<void> {
  saveBlob(await (await send(id, { ...ask, lasting: true })).blob(), name);
}

/** Lets the browser store something that the page made. */
export function saveText(text: string, name: string, type = 'application/json'): void {
  saveBlob(new Blob([text], { type }), name);
}

/** Lets the browser store a file that is here. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  store(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function store(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}
