import { Refused, send } from '../../../api/client.ts';
import { t } from '../../../strings.ts';
import { viewerWords } from './viewer-words.ts';

/** Where a log comes from: the vehicle by its number, or the node by its name; a file of the person has no address. */
type LogSource =
  | { readonly kind: 'vehicle'; readonly id: string }
  | { readonly kind: 'node'; readonly name: string };

/** A source as it stands in the address of the page. */
export function sourceOf([kind, id]: readonly string[]): LogSource | null {
  if (id === undefined) return null;
  if (kind === 'vehicle' && /^\d{1,9}$/.test(id)) return { kind, id };
  return kind === 'node' ? { kind, name: id } : null;
}

/** A part of a log, ms since 1970: a flight in a log that has several. */
export interface LogPart {
  readonly from: number;
  readonly to: number;
}

/** What the address says behind the source, `FROM-TO`; null: the whole log. */
export function partOf([, , part = '']: readonly string[]): LogPart | null {
  const [, from = '', to = ''] = /^(\d{1,15})-(\d{1,15})$/.exec(part) ?? [];
  return from === '' ? null : { from: Number(from), to: Number(to) };
}

/** What the log is called. */
export function nameOf(source: LogSource): string {
  return source.kind === 'node' ? source.name : t.vehicle.logs.file({ id: Number(source.id) });
}

/**
 * Fetches a log; the browser holds it, on its disk where it is large.
 * @param onProgress share that is here, 0 to 1; null: not known
 * @throws Refused
 */
export async function fetchLog(
  source: LogSource,
  signal: AbortSignal,
  onProgress: (share: number | null) => void,
): Promise<Blob> {
  const response =
    source.kind === 'node'
      ? await send('tlogs.name.get', { params: { name: source.name }, lasting: true, signal })
      : await send('flight-logs.id.get', { params: { id: source.id }, lasting: true, signal });
  const total = Number(response.headers.get('content-length'));
  let done = 0;
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (part, out) => {
        done += part.length;
        onProgress(total > 0 ? Math.min(1, done / total) : null);
        out.enqueue(part);
      },
    }),
  );
  try {
    return await new Response(counted ?? null).blob();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Refused(0, 'E_AWAY', viewerWords.brokeOff);
  }
}
