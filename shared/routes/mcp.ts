import { mcpStatus, mintAnswer, mintRequest, revokeAnswer, revokeRequest } from '../schemas/mcp.ts';
import type { Row } from './row.ts';
import { json, READ, WRITE } from './row-parts.ts';

const BASE = { lane: 'front', feature: 'mcp', profiles: 'DG' } as const;

export const mcpRows = [
  {
    ...BASE,
    ...READ,
    id: 'mcp.status.get',
    path: '/api/mcp/status',
    onBox: true,
    summary: 'posture and token registry; loopback without key',
    responses: json('posture and registry', mcpStatus),
    built: true,
  },
  {
    ...BASE,
    ...WRITE,
    id: 'mcp.tokens.post',
    method: 'POST',
    path: '/api/mcp/tokens',
    access: 'keyonly',
    scope: 'none',
    relay: 'forbid',
    armed: '-',
    onBox: true,
    summary: 'mint; loopback without key',
    blast: 'config',
    body: mintRequest,
    fails: ['E_NOT_PAIRED', 'E_STORE', 'E_CLOCK'],
    responses: json('the token, once', mintAnswer),
    built: true,
  },
  {
    ...BASE,
    ...WRITE,
    id: 'mcp.revoke.post',
    method: 'POST',
    path: '/api/mcp/revoke',
    access: 'key',
    scope: 'admin',
    relay: 'forbid',
    armed: '-',
    onBox: true,
    summary: 'revoke one or all; loopback without key',
    blast: 'config',
    body: revokeRequest,
    fails: ['E_NOT_FOUND', 'E_STORE'],
    responses: json('what was revoked', revokeAnswer),
    built: true,
  },
] as const satisfies readonly Row[];
