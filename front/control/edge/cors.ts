/** Which browser origins this node talks to (docs/contract/edge.md#cors). */

const BUILT_IN = [
  'http://localhost:4000',
  'http://localhost:4001',
  'http://127.0.0.1:4000',
  'http://127.0.0.1:4001',
];

interface CorsConfig {
  readonly cors_enabled: boolean;
  readonly cors_origins: readonly string[];
  readonly cors_origins_extra: readonly string[];
}

/** The union of the built-in development origins and the two lists; nothing when CORS is off. Never `*`. */
export function allowedOrigins(config: CorsConfig): ReadonlySet<string> {
  return new Set(
    config.cors_enabled ? [...BUILT_IN, ...config.cors_origins, ...config.cors_origins_extra] : [],
  );
}

/** Behind a name, an IPv4 address or the brackets of an IPv6 one. */
const PORT = /(?<=^\[[^\]]*\]|^[^:]*):\d{1,5}$/;

/** Whether `origin` is this node's own page: it has the same scheme, and the same authority as the Host of the request. */
export function isOwnOrigin(origin: string, host: string | null, secure: boolean): boolean {
  return host !== null && origin.toLowerCase() === `http${secure ? 's' : ''}://${host.toLowerCase()}`;
}

/**
 * The same behind a listed reverse proxy, which says by which scheme the browser came. It may leave the port out of the Host: one that
 * is not there is any.
 */
export function isProxiedOrigin(origin: string, host: string, scheme: string): boolean {
  const there = /^(https?):\/\/(.+)$/.exec(origin.toLowerCase());
  const [, own, authority = ''] = there ?? [];
  if (own !== scheme) return false;
  const name = host.toLowerCase();
  return authority === name || (!PORT.test(name) && authority.replace(PORT, '') === name);
}

/**
 * Answer headers of a preflight for an allowed origin; the same for every path, so that they do not reveal which paths exist.
 */
export function preflightHeaders(origin: string, privateNetwork: boolean): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers':
      'content-type, authorization, x-svc-key, x-svc-dashboard-session, x-svc-mcp-token, if-match, range',
    'access-control-max-age': '600',
    ...(privateNetwork ? { 'access-control-allow-private-network': 'true' } : {}),
    vary: 'Origin',
  };
}
