import {
  dashboardSessions,
  handoverRequest,
  pinClearAnswer,
  pinSetAnswer,
  pinSetRequest,
  pinStatus,
  pinVerifyAnswer,
  pinVerifyRequest,
  sessionEnded,
  ticketAnswer,
  ticketRequest,
} from '../schemas/dashboard.ts';
import { noBody } from '../schemas/no-body.ts';
import { claimAnswer, claimRequest, pairingCode, pairingInfo, unpairAnswer } from '../schemas/pairing.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'pairing', profiles: 'DG' });

export const pairingRows = [
  row('pairing.info.get', 'GET /api/pairing/info', 'public none ok -', 'pairing status', {
    responses: json('pairing status', pairingInfo),
  }),
  row(
    'pairing.code.get',
    'GET /api/pairing/code',
    'public none forbid -',
    'pairing code; 409 once paired; remote callers 403',
    { nearOnly: true, fails: ['E_PAIRED'], responses: json('the code, and when it expires', pairingCode) },
  ),
  row(
    'pairing.claim.post',
    'POST /api/pairing/claim',
    'public none forbid - config',
    'claim an unpaired node; remote callers 403',
    {
      nearOnly: true,
      body: claimRequest,
      fails: ['E_PAIRED', 'E_CODE', 'E_LOCKED', 'E_STORE'],
      responses: json('the pairing key, once', claimAnswer),
    },
  ),
  row(
    'pairing.unpair.post',
    'POST /api/pairing/unpair',
    'key destructive forbid guard config',
    'forget the pairing',
    { fails: ['E_NOT_PAIRED', 'E_STORE'], responses: json('done', unpairAnswer), bodyKind: 'json' },
  ),
  row(
    'dashboard.pin.status.get',
    'GET /api/dashboard/pin/status',
    'public none ok -',
    'whether a PIN is set, or locked',
    {
      responses: json('whether a PIN is set, and whether it is locked', pinStatus),
    },
  ),
  row(
    'dashboard.pin.verify.post',
    'POST /api/dashboard/pin/verify',
    'public none ok - config',
    'exchange a PIN, or the pairing key, for a dashboard session',
    {
      orKey: true,
      body: pinVerifyRequest,
      fails: ['E_UNAUTHENTICATED', 'E_LOCKED', 'E_STORE'],
      responses: json('the session, once', pinVerifyAnswer),
    },
  ),
  row(
    'dashboard.handover.post',
    'POST /api/dashboard/handover',
    'public none forbid - config',
    'move a dashboard session to another address of this node, by a ticket',
    {
      tlsOnly: true,
      body: handoverRequest,
      fails: ['E_UNAUTHENTICATED', 'E_LOCKED'],
      responses: json('the session, once', pinVerifyAnswer),
    },
  ),
  row(
    'dashboard.pin.set.post',
    'POST /api/dashboard/pin/set',
    'public none forbid - config',
    'set or change the PIN; the handler checks who may',
    {
      onBox: true,
      body: pinSetRequest,
      fails: ['E_UNAUTHENTICATED', 'E_LOCKED', 'E_UNPAIRED', 'E_STORE'],
      responses: json('done, and a new session', pinSetAnswer),
    },
  ),
  row(
    'dashboard.pin.clear.post',
    'POST /api/dashboard/pin/clear',
    'keyonly none forbid - config',
    'clear the PIN, end every session',
    {
      body: noBody,
      fails: ['E_UNAUTHENTICATED', 'E_LOCKED', 'E_STORE'],
      responses: json('done', pinClearAnswer),
    },
  ),
  row(
    'ws.ticket.post',
    'POST /api/_ws/ticket',
    'key admin ok - none',
    'make a ticket: for a WebSocket, to read a file, or to move a session',
    {
      body: ticketRequest,
      fails: ['E_NOT_FOUND', 'E_RELAY_FORBIDDEN'],
      responses: json('the ticket, once', ticketAnswer),
    },
  ),
  row('dashboard.sessions.get', 'GET /api/dashboard/sessions', 'key read ok -', 'open dashboard sessions', {
    responses: json('oldest first', dashboardSessions),
  }),
  row(
    'dashboard.sessions.id.delete',
    'DELETE /api/dashboard/sessions/{id}',
    'key none forbid - config',
    'end a dashboard session',
    { fails: ['E_NOT_FOUND'], responses: json('it and everything it opened has ended', sessionEnded) },
  ),
] as const satisfies readonly Row[];
