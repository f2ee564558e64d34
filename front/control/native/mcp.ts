import { ApiError } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { mcpRows } from '../../../shared/routes/mcp.ts';
import type { Confirmations } from '../stores/confirmations.ts';
import type { TokenStore } from '../stores/tokens.ts';

export function mcpHandlers(
  store: TokenStore,
  confirmations: Confirmations,
): HandlersOf<typeof mcpRows, 'front'> {
  return {
    'mcp.status.get': () => store.status(),

    'mcp.tokens.post': async ({ body, principal }) => {
      // The row refuses them already; a token that can mint tokens would outlive its own revocation.
      if (principal.kind === 'token' || principal.kind === 'session') throw new ApiError('E_SCOPE');
      return store.mint({
        label: body.label ?? '',
        scopes: body.scopes,
        ttlMs: body.ttl_ms ?? null,
        allowedNodes: body.allowed_nodes ?? [],
      });
    },

    'mcp.revoke.post': async ({ body: { token_id: id } }) => {
      if (id === undefined) return { all: true, revoked: await store.revokeAll() };
      return { all: false, revoked: [await store.revoke(id)] };
    },

    'confirmations.post': ({ body, principal }) => {
      const { code, expires_in_s } = confirmations.file(body, principal);
      return { code, page: `/#/access/confirm/${code}`, expires_in_s };
    },
    'confirmations.get': ({ principal }) => ({ confirmations: [...confirmations.list(principal)] }),
    'confirmations.id.get': ({ params: { id }, principal }) => confirmations.get(id, principal),
    'confirmations.id.sign.post': ({ params: { id }, body, principal }) =>
      confirmations.sign(id, body, principal),
    'confirmations.id.use.post': ({ params: { id }, body, principal }) =>
      confirmations.use(id, body.call_hash, principal),
  };
}
