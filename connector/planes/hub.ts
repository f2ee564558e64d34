import { messageOf } from '../../shared/errors.ts';
import { type NodePlace, requestNode } from '../../shared/http/node-request.ts';
import { memberOf, parseJson } from '../../shared/member.ts';
import { isLoopback } from '../loopback.ts';

/** The hub of a fleet (docs/contract/fleet.md), as its callers ask it. */
export interface HubPlace {
  /** Without a trailing slash. */
  readonly url: string;
  /** PEM of the authority that vouches for it; undefined: the system's. */
  readonly ca: string | undefined;
  /** `svc_mc_…`, or `svc_op_…` of a person who has signed in; null: what the hub tells everybody. */
  readonly credential: string | null;
}

/** The default address of svc-hub. */
const LOCAL_HUB = 'http://127.0.0.1:8190';
const TIMEOUT_MS = 10_000;

/** The hub did not do it; `status` null: it did not answer. */
export class HubError extends Error {
  readonly status: number | null;
  /** What it answered. */
  readonly body: unknown;
  /** Whether it may have got the question. */
  readonly sent: boolean;

  constructor(status: number | null, message: string, body: unknown = null, sent = true) {
    super(message);
    this.status = status;
    this.body = body;
    this.sent = sent;
  }
}

/**
 * @param gcs `local`, `prod` or a URL
 * @param cloudUrl SVC_CLOUD_URL
 * @throws Error with a sentence: no URL, `prod` without one, plain http to another machine
 */
export function hubUrl(gcs: string | null, cloudUrl: string | null): string {
  if (gcs === 'prod' && cloudUrl === null)
    throw new Error('--gcs prod asks for SVC_CLOUD_URL, the address of your hub.');
  const named = gcs === 'prod' || gcs === null ? null : gcs === 'local' ? LOCAL_HUB : gcs;
  const text = cloudUrl ?? named;
  if (text === null) throw new Error('--target fleet needs --gcs local, prod or a URL.');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new Error(`${text} is no http(s) URL of a hub.`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new Error(`${text}: plain http is for this machine only; use https.`);
  return url.href.replace(/\/$/, '');
}

export function hubHeaders({ credential }: HubPlace): Readonly<Record<string, string>> {
  const bearer = credential === null ? {} : { authorization: `Bearer ${credential}` };
  return { ...bearer, accept: 'application/json' };
}

/** Where it is asked, and whom its certificate must be of. */
export function hubPlace({ url, ca }: HubPlace): NodePlace {
  const baseUrl = new URL(url).origin;
  return ca === undefined ? { baseUrl } : { baseUrl, tls: { ca } };
}

interface HubQuestion {
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** @throws HubError */
export async function askHub(
  hub: HubPlace,
  path: string,
  { headers, body: asked, timeoutMs = TIMEOUT_MS, signal }: HubQuestion = {},
): Promise<unknown> {
  const { url } = hub;
  const base = new URL(url);
  const target = base.pathname.replace(/\/$/, '') + path;
  let sent = false;
  const answer = await requestNode(hubPlace(hub), {
    method: asked === undefined ? 'GET' : 'POST',
    path: target,
    headers: { ...hubHeaders(hub), ...headers },
    ...(asked === undefined ? {} : { body: asked }),
    timeoutMs,
    signal,
    onSending: () => {
      sent = true;
    },
  }).catch((error: unknown) => {
    throw new HubError(null, `The hub ${url} does not answer (${messageOf(error)}).`, null, sent);
  });
  const body = parse(answer.bytes);
  if (answer.status < 200 || answer.status > 299) {
    const detail = memberOf(body, 'detail');
    const said = typeof detail === 'string' ? detail : `status ${answer.status}`;
    throw new HubError(answer.status, `The hub ${url} refuses: ${said}`, body);
  }
  if (body === undefined) throw new HubError(null, `The hub ${url} did not answer in JSON.`);
  return body;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return undefined; // the caller says so
  }
}
