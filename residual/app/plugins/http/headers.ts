import type { IncomingHttpHeaders } from 'node:http';
import { TICKET_PROTOCOL } from '../../../../shared/auth/principal-mark.ts';

/**
 * What passes between a caller and an extension's own HTTP server. svc-control has already removed credentials and hop-by-hop
 * headers from the request (docs/contract/edge.md#headers); what is ours, and what an answer could do to the node's own origin, is removed
 * here.
 */

/** Hop-by-hop (RFC 9110 7.6.1), and the node's address, which is none of its business. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-hmac-signature',
  'sec-websocket-protocol',
]);

/**
 * Of an answer: hop-by-hop, and what acts beyond this one answer. With them an extension could set cookies for the node, open it
 * to other origins, empty or redirect what the browser keeps of it, or install a worker below the node's address.
 */
const NOT_ANSWERED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'set-cookie',
  'set-cookie2',
  'clear-site-data',
  'strict-transport-security',
  'public-key-pins',
  'service-worker-allowed',
  'sourcemap',
  'refresh',
  'link',
  'alt-svc',
  'www-authenticate',
  'authentication-info',
  'report-to',
  'reporting-endpoints',
  'nel',
  'expect-ct',
  'origin-agent-cluster',
  'x-powered-by',
  'server',
  'sec-websocket-protocol',
]);
const NOT_ANSWERED_PREFIX = [
  'access-control-',
  'x-svc-',
  'content-security-policy',
  'cross-origin-',
  'proxy-',
];

/**
 * Its pages have an origin of their own, without the node's storage, cookies and API; they may run their scripts and talk to
 * nobody but through the page that shows them.
 */
const SANDBOX = "sandbox allow-scripts allow-forms; frame-ancestors 'self'";

/** The headers for the extension. */
export function requestHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = { host: 'extension' };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith('x-svc-') && !NOT_SENT.has(name)) kept[name] = value;
  return kept;
}

/** The subprotocols for the extension, without our own; null if there are none. */
export function protocolsFor(headers: IncomingHttpHeaders): string | null {
  const offered = protocolsOf(headers).filter((name) => name !== TICKET_PROTOCOL);
  return offered.length === 0 ? null : offered.join(', ');
}

/** The subprotocol of our answer: the extension's choice; else our own, if it was offered: a browser needs one. */
export function protocolAnswered(
  offered: IncomingHttpHeaders,
  chosen: IncomingHttpHeaders,
): string | undefined {
  const [choice] = protocolsOf(chosen);
  if (choice !== undefined && protocolsOf(offered).includes(choice)) return choice;
  return protocolsOf(offered).includes(TICKET_PROTOCOL) ? TICKET_PROTOCOL : undefined;
}

function protocolsOf(headers: IncomingHttpHeaders): readonly string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The headers for the caller.
 * @param base the path under which the caller sees the extension, `/api/plugins/<id>/x`
 * @param path what was asked for, as the extension knows it
 */
export function answerHeaders(
  headers: IncomingHttpHeaders,
  base: string,
  path: string,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_ANSWERED.has(name)) continue;
    if (NOT_ANSWERED_PREFIX.some((prefix) => name.startsWith(prefix))) continue;
    kept[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  for (const name of ['location', 'content-location']) {
    const target = kept[name];
    if (target === undefined) continue;
    const own = ownTarget(target, base, path);
    if (own === null) delete kept[name];
    else kept[name] = own;
  }
  return { ...kept, 'content-security-policy': SANDBOX, 'x-content-type-options': 'nosniff' };
}

/** Where a redirect leads, if that is the extension itself: nothing in it climbs out. Null for another host. */
function ownTarget(target: string, base: string, path: string): string | null {
  const here = 'http://extension.invalid';
  const url = URL.parse(target, `${here}${path}`);
  return url === null || url.origin !== here ? null : `${base}${url.pathname}${url.search}${url.hash}`;
}
