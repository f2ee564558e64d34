import { EXTENSION_HEADER } from '../../../shared/auth/principal.ts';
import { TICKET_PROTOCOL } from '../../../shared/auth/principal-mark.ts';
import { CLIENT_ID_HEADER, isClientId } from '../../../shared/flight/pilot.ts';
import { headerName, Single } from '../../../shared/http/edge/head.ts';
import { RELAY_CALLER_HEADER } from './relay.ts';

/**
 * One pass over the raw headers of a request, collecting what the edge needs. It reads the raw list, not Node's merged object,
 * so that repeated headers are noticed (docs/contract/edge.md#target).
 */

export interface EdgeHeaders {
  readonly host: string | null;
  /** How many Host headers came. */
  readonly hosts: number;
  readonly origin: string | null;
  readonly key: string | null;
  /** A key was sent, be it one that counts or none. */
  readonly showsKey: boolean;
  readonly session: string | null;
  readonly token: string | null;
  /** Of `Authorization: Bearer`: the key or a token, for a row that takes it so. */
  readonly bearer: string | null;
  /** The ticket of the subprotocol pair `svc-ws-ticket, <ticket>`. */
  readonly ticket: string | null;
  /** The request claims to come through a ground station's relay; this can only reduce its rights. */
  readonly relayed: boolean;
  /** What a ground station says about its caller; means something on the relay's own listener only. */
  readonly relayCaller: string | null;
  /** The extension that asks, on control.sock only; empty if it is said twice. */
  readonly extension: string | null;
  /** The name that the client gives itself, for the rule of the pilot in command; null if none or not a name. */
  readonly clientId: string | null;
  /** The request passed through some proxy, so its TCP peer is not its sender. */
  readonly forwarded: boolean;
  /** X-Forwarded-Proto where it is one word; only a listed proxy is believed. */
  readonly forwardedProto: string | null;
  /** A browser asks for the script of a service worker. */
  readonly workerScript: boolean;
  readonly preflight: boolean;
  readonly privateNetwork: boolean;
  /** Whether any credential was sent; a refused request without one is not a failed attempt. */
  readonly offered: boolean;
}

const FORWARDING: ReadonlySet<string> = new Set(['forwarded', 'x-real-ip', 'cf-connecting-ip', 'via']);

const BEARER = /^Bearer +([\w.~+/=-]{1,512})$/i;

/** @param raw name, value, name, value … as `IncomingMessage.rawHeaders` */
export function scanHeaders(raw: readonly string[]): EdgeHeaders {
  let host: string | null = null;
  let hosts = 0;
  let origin: string | null = null;
  let relayed = false;
  let forwarded = false;
  let proto: Single | null = null;
  let workerScript = false;
  let preflight = false;
  let privateNetwork = false;
  let ticket: string | null = null;
  let key: Single | null = null;
  let session: Single | null = null;
  let token: Single | null = null;
  let authorization: Single | null = null;
  let relayCaller: Single | null = null;
  let clientId: Single | null = null;
  let extension: Single | null = null;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = headerName(raw[i] ?? '');
    const value = raw[i + 1] ?? '';
    switch (name) {
      case 'host':
        hosts++;
        host = value;
        break;
      case 'origin':
        origin = origin === null ? value : '';
        break;
      case 'x-svc-key':
        (key ??= new Single()).add(value, raw[i] ?? '');
        break;
      case 'x-svc-dashboard-session':
        (session ??= new Single()).add(value, raw[i] ?? '');
        break;
      case 'x-svc-mcp-token':
        (token ??= new Single()).add(value, raw[i] ?? '');
        break;
      case 'authorization':
        (authorization ??= new Single()).add(value, raw[i] ?? '');
        break;
      case 'x-svc-relayed':
        relayed = true;
        break;
      case RELAY_CALLER_HEADER:
        (relayCaller ??= new Single()).add(value, raw[i] ?? '');
        break;
      case CLIENT_ID_HEADER:
        (clientId ??= new Single()).add(value, raw[i] ?? '');
        break;
      case EXTENSION_HEADER:
        (extension ??= new Single()).add(value, raw[i] ?? '');
        break;
      case 'sec-websocket-protocol':
        ticket = ticketIn(value);
        break;
      case 'service-worker':
        workerScript = true;
        break;
      case 'access-control-request-method':
        preflight = true;
        break;
      case 'access-control-request-private-network':
        privateNetwork = true;
        break;
      case 'x-forwarded-proto':
        forwarded = true;
        (proto ??= new Single()).add(value, raw[i] ?? '');
        break;
      default:
        if (FORWARDING.has(name) || name.startsWith('x-forwarded-')) forwarded = true;
    }
  }
  return {
    host,
    hosts,
    origin,
    key: key?.value ?? null,
    showsKey: key !== null,
    session: session?.value ?? null,
    token: token?.value ?? null,
    bearer: BEARER.exec(authorization?.value ?? '')?.[1] ?? null,
    ticket,
    relayed,
    relayCaller: relayCaller?.value ?? null,
    extension: extension === null ? null : (extension.value ?? ''),
    clientId: isClientId(clientId?.value) ? clientId.value : null,
    forwarded,
    forwardedProto: proto?.value?.trim().toLowerCase() ?? null,
    workerScript,
    preflight,
    privateNetwork,
    offered: key?.offered === true || session?.offered === true || token?.offered === true || ticket !== null,
  };
}

/** The ticket, if the offered protocols are exactly `svc-ws-ticket, <ticket>`, in this order. */
export function ticketIn(protocols: string): string | null {
  const parts = protocols.split(',').map((part) => part.trim());
  return parts.length === 2 && parts[0] === TICKET_PROTOCOL && parts[1] ? parts[1] : null;
}
