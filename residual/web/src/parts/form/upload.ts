import type { RowId } from '../../../../../shared/routes/table.ts';
import { type Ask, pathOf, Refused, refusalOf } from '../../api/client.ts';
import { credentialHeaders } from '../../api/credential.ts';
import { type Answer, ROW } from '../../api/rows.ts';
import { t } from '../../strings.ts';

/**
 * Sends a file to a row; only XMLHttpRequest says how far it is. It may take as long as it moves.
 * @param file its bytes; or a form with it
 * @param onProgress share that is sent, 0 to 1
 * @throws Refused
 */
export async function upload<Id extends RowId>(
  id: Id,
  ask: Pick<Ask, 'params' | 'query' | 'signal'>,
  file: Blob | FormData,
  onProgress: (share: number) => void,
): Promise<Answer<Id>> {
  const request = new XMLHttpRequest();
  request.open(ROW[id].method, pathOf(id, ask));
  for (const [name, value] of Object.entries(credentialHeaders())) request.setRequestHeader(name, value);
  // Of a form it is the browser that knows the boundary.
  if (file instanceof Blob) request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress(total === 0 ? 1 : loaded / total),
  );
  const text = await new Promise<string>((resolve, reject) => {
    request.addEventListener('load', () => resolve(request.responseText));
    request.addEventListener('error', () => reject(new Refused(0, 'E_AWAY', t.unanswered.uploadBroke)));
    request.addEventListener('abort', () => reject(new Refused(0, 'E_AWAY', t.unanswered.uploadStopped)));
    ask.signal?.addEventListener('abort', () => request.abort());
    request.send(file);
  });
  if (request.status >= 200 && request.status < 300) return JSON.parse(text) as Answer<Id>;
  throw await refusalOf(new Response(text, { status: request.status === 0 ? 502 : request.status }));
}
