import { mcpStatus, mintAnswer, mintRequest, revokeAnswer, revokeRequest } from '../schemas/mcp.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'mcp', profiles: 'DG' });

export const mcpRows = [
  row(
    'mcp.status.get',
    'GET /api/mcp/status',
    'key read ok -',
    'whether tokens are accepted, and the token registry; loopback needs no key',
    { onBox: true, responses: json('posture and registry', mcpStatus) },
  ),
  row(
    'mcp.tokens.post',
    'POST /api/mcp/tokens',
    'keyonly none forbid - config',
    'mint a token; loopback needs no key',
    {
      onBox: true,
      body: mintRequest,
      fails: ['E_NOT_PAIRED', 'E_STORE', 'E_CLOCK'],
      responses: json('the token, once', mintAnswer),
    },
  ),
  row(
    'mcp.revoke.post',
    'POST /api/mcp/revoke',
    'key admin forbid - config',
    'revoke one token or all; loopback needs no key',
    {
      onBox: true,
      body: revokeRequest,
      fails: ['E_NOT_FOUND', 'E_STORE'],
      responses: json('what was revoked', revokeAnswer),
    },
  ),
] as const satisfies readonly Row[];
