import { ApiError } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { mcpRows } from '../../../shared/routes/mcp.ts';
import type { TokenStore } from '../stores/tokens.ts';

export function mcpHandlers(store: TokenStore): HandlersOf<typeof mcpRows, 'front'> {
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
  };
}
