import { type ClientRequest, type RequestOptions, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Row } from '../../shared/routes/row.ts';
import { type RelayOptions, relayRequest } from './radios.ts';
import type { Secured } from './secure.ts';

/** A target of the row; through the relay proxy one with a route inside. */
export function targetOf(row: Row): string {
  const rest = row.scope === 'inner' ? 'api/telemetry/ws' : 'x1';
  return row.path
    .replace(/\{\*[a-z_]+\}/, rest)
    .replace(/\{[zxy]\}/g, '1')
    .replace(/\{[a-z_]+\}/g, 'x1');
}

/** A target of the row that shows a read ticket, where the row takes one or else in the query. */
export function withReadTicket(row: Row, ticket: string): string {
  return row.readTicket === 'segment'
    ? targetOf(row).replace(/x1$/, `~${ticket}/x1`)
    : `${targetOf(row)}?ticket=${ticket}`;
}

/** A body that no handler acts on: the schema refuses it after everything else has passed. Null for a row without one. */
export function harmlessBody(row: Row): string | null {
  return row.bodyKind === 'json' ? '[]' : null;
}

export interface RowAnswer {
  /** 101 where a WebSocket was opened (and closed at once). */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function openRequest(to: number | Secured | RelayOptions, options: RequestOptions): ClientRequest {
  // By Node's own agent, which keeps connections: a handshake for each row would take long.
  if (typeof to !== 'number' && 'ca' in to) return secureRequest({ ...options, host: '127.0.0.1', ...to });
  return typeof to === 'number'
    ? request({ ...options, host: '127.0.0.1', port: to })
    : relayRequest(to, options);
}

/**
 * Asks a port of this machine, by HTTPS where its authority is given, or a drone's relay, for the row over a real socket, with a handshake
 * where it is a WebSocket's.
 */
export async function sendRow(
  to: number | Secured | RelayOptions,
  row: Row,
  headers: Readonly<Record<string, string>>,
  target = targetOf(row),
): Promise<RowAnswer> {
  const body = harmlessBody(row);
  const socket = row.method === 'WS';
  return new Promise((resolve, reject) => {
    const upgrade = socket
      ? {
          connection: 'upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        }
      : {};
    const type =
      body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) };
    const req = openRequest(to, {
      method: socket ? 'GET' : row.method,
      path: target,
      headers: { ...upgrade, ...type, ...headers },
    });
    req.on('error', reject);
    req.on('upgrade', (_res, opened) => {
      opened.destroy();
      resolve({ status: 101, body: {} });
    });
    req.on('response', (res) => {
      if (res.headers['content-type'] === 'text/event-stream') {
        // It has been let in, and never ends by itself.
        resolve({ status: res.statusCode ?? 0, body: {} });
        req.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json = res.headers['content-type']?.startsWith('application/json') === true;
        resolve({ status: res.statusCode ?? 0, body: json ? (JSON.parse(text) as RowAnswer['body']) : {} });
      });
    });
    req.end(body ?? undefined);
  });
}
