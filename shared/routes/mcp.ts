import {
  confirmation,
  confirmationFiled,
  confirmationRequest,
  confirmationSign,
  confirmations,
  confirmationUse,
  confirmationUsed,
} from '../schemas/confirmations.ts';
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
  row(
    'confirmations.post',
    'POST /api/confirmations',
    'key flight forbid - none',
    'let a call wait for the signature of a person at this node',
    {
      body: confirmationRequest,
      fails: ['E_RATE_LIMITED'],
      responses: json('the code, and the page that shows it; 120 s', confirmationFiled),
    },
  ),
  row(
    'confirmations.get',
    'GET /api/confirmations',
    'key read forbid -',
    'calls that wait for a person; of a token its own',
    { responses: json('the calls', confirmations) },
  ),
  row(
    'confirmations.id.get',
    'GET /api/confirmations/{id}',
    'key read forbid -',
    'one call that waits for a person',
    { fails: ['E_NOT_FOUND'], responses: json('what it is, and whether somebody signed', confirmation) },
  ),
  row(
    'confirmations.id.sign.post',
    'POST /api/confirmations/{id}/sign',
    'key none forbid - aircraft',
    'sign or refuse a call; a session or the pairing key, never a token',
    {
      body: confirmationSign,
      fails: ['E_NOT_FOUND', 'E_BUSY', 'E_CONFIRM'],
      responses: json('the call; a signature is good for 60 s', confirmation),
    },
  ),
  row(
    'confirmations.id.use.post',
    'POST /api/confirmations/{id}/use',
    'key flight forbid - none',
    'use the signature of an own call up, right before it is sent',
    {
      body: confirmationUse,
      fails: ['E_NOT_FOUND', 'E_CONFIRM'],
      responses: json('who signed', confirmationUsed),
    },
  ),
] as const satisfies readonly Row[];
