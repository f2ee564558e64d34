import { type ErrorCode, errorWord } from '../../../../shared/errors.ts';
import { parseJson, recordOf } from '../../../../shared/member.ts';
import type { RowId } from '../../../../shared/routes/table.ts';
import { filledPath, type Query, queryText } from '../../../../shared/routes/target.ts';
import { t } from '../strings.ts';
import { type Credential, credential, credentialHeaders, lose } from './credential.ts';
import { heard, missed } from './presence.ts';
import { sentenceFor } from './refusal-sentence.ts';
import { relayed, throughRelay } from './relay.ts';
import { type Answer, type Body, ROW } from './rows.ts';

/** Requests to the node: named by the row of the route table, typed by the row's own schemas. */

/** @typeParam B the JSON body */
export interface Ask<B = unknown> {
  /** Path parameters; `{*rest}` takes slashes. */
  readonly params?: Readonly<Record<string, string>>;
  /** Members without a value are left out. */
  readonly query?: Query;
  readonly body?: B;
  /** Sent as it is, instead of a JSON body. */
  readonly raw?: { readonly bytes: Blob | ArrayBuffer | string; readonly type: string };
  /** Beside the credential's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown instead of what this browser holds, which does not end with a refusal then; null: nothing. */
  readonly as?: Credential | null;
  /** Of the node itself, also while a drone behind it is looked at. */
  readonly here?: boolean;
  readonly signal?: AbortSignal;
  /** The answer lasts as long as it takes; only its beginning has the time of the row. */
  readonly lasting?: boolean;
  /** Sent also while the page is being left. */
  readonly keepalive?: boolean;
  /** Only of a row that is `long`: how far it is. */
  readonly onProgress?: (progress: { done: number; total: number | null; text: string }) => void;
}

/** The node's refusal, with a sentence for who reads the page; or that it did not answer (`E_AWAY`). */
export class Refused extends Error {
  /** Of HTTP; 0 where no answer came. */
  readonly status: number;
  readonly code: ErrorCode | 'E_AWAY';
  readonly extras: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: ErrorCode | 'E_AWAY',
    detail: string,
    extras: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.extras = extras;
  }
}

// Beyond the node's own time for the row: the way there and back.
const GRACE_MS = 3000;

/**
 * Asks the node; the drone behind it while one is looked at (api/relay.ts).
 * @throws Refused
 */
export async function call<Id extends RowId>(
  id: Id,
  ask: Ask<NoInfer<Body<Id>>> = {},
): Promise<NoInfer<Answer<Id>>> {
  const response = await send(id, ask);
  return (await bodyOf(response)) as NoInfer<Answer<Id>>;
}

/** As `call`, for answers that are no JSON. The caller reads or cancels its body. @throws Refused */
export async function send(id: RowId, ask: Ask = {}): Promise<Response> {
  const row = ROW[id];
  const { body, raw, signal, onProgress } = ask;
  const headers = new Headers({ ...ask.headers, ...credentialHeaders(ask.as) });
  if (raw !== undefined) headers.set('content-type', raw.type);
  else if (body !== undefined) headers.set('content-type', 'application/json');
  if (onProgress !== undefined && row.long) headers.set('accept', 'text/event-stream');
  const stopper = new AbortController();
  const late = stopper.signal;
  const timer = setTimeout(() => stopper.abort(), row.timeoutMs + GRACE_MS);
  const asked = performance.now();
  let response: Response;
  try {
    response = await fetch(pathOf(id, ask), {
      method: row.method === 'ANY' ? 'GET' : row.method,
      headers,
      cache: 'no-store',
      keepalive: ask.keepalive ?? false,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      ...(raw !== undefined ? { body: raw.bytes } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    missed(asked);
    throw new Refused(0, 'E_AWAY', late.aborted ? t.unanswered.late : t.unanswered.silent);
  }
  if (ask.lasting === true) clearTimeout(timer);
  heard();
  if (response.ok) return onProgress === undefined || !row.long ? response : followed(response, onProgress);
  throw await refusalOf(response, ask.as === undefined);
}

/** Path and query of a row; through the relay while a drone behind this ground station is looked at. */
export function pathOf(
  id: RowId,
  { params = {}, query = {}, here = false }: Pick<Ask, 'params' | 'query' | 'here'> = {},
): string {
  const path = filledPath(ROW[id].path, params);
  return `${here ? path : throughRelay(path)}${queryText(query)}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => {
    throw new Refused(0, 'E_AWAY', t.unanswered.broke);
  });
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw new Refused(response.status, 'E_AWAY', t.unanswered.strange);
  }
}

/** What a refusal of the node says. @param held whether what this browser holds was shown */
export async function refusalOf(response: Response, held = true): Promise<Refused> {
  const body = recordOf(await bodyOf(response).catch(() => ({})));
  const { detail, code: _code, error: _error, ...extras } = body;
  const code = (errorWord(body) ?? 'E_AWAY') as ErrorCode | 'E_AWAY';
  const words =
    typeof detail === 'string' ? sentenceFor(code, detail) : t.unanswered.status({ status: response.status });
  const refusal = new Refused(response.status, code, words, extras);
  // Of a drone behind the relay it is the drone that refuses, not the credential.
  if (response.status === 401 && held && credential.value !== null && relayed.value === null) lose('ended');
  return refusal;
}

/** Reads `progress` and `result` of a long answer; gives what a plain answer would have been. */
async function followed(response: Response, onProgress: NonNullable<Ask['onProgress']>): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
  let rest = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const chunk = await reader?.read().catch(() => undefined);
    if (chunk === undefined || chunk.done) throw new Refused(0, 'E_AWAY', t.unanswered.brokeLong);
    rest += chunk.value;
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const lines = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      const field = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
      if (field('event') === 'progress') onProgress(JSON.parse(field('data')));
      if (field('event') !== 'result') continue;
      const { status, body } = recordOf(parseJson(field('data')));
      const result = new Response(JSON.stringify(body), {
        status: Number(status),
        headers: { 'content-type': 'application/json' },
      });
      if (result.ok) return result;
      throw await refusalOf(result);
    }
  }
}
