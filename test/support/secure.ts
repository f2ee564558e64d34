import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { TestNode } from './node.ts';

export interface SecureAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Where a node serves HTTPS, and how it is known. */
export interface Secured {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
}

/** Asks the node, in the clear, who vouches for it. */
export async function securedBy(node: TestNode): Promise<Secured> {
  const { body } = await node.json('/api/tls');
  const ca = await (await node.fetch('/ca.crt')).text();
  return { port: Number(body['port']), ca };
}

/** A request by HTTPS that takes no certificate but those of the authority. */
export async function secureAsk(
  { port, ca }: Secured,
  path: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly host?: string;
  } = {},
): Promise<SecureAnswer> {
  const asked = request({
    host: options.host ?? '127.0.0.1',
    port,
    ca,
    path,
    method: options.method ?? 'GET',
    headers: options.headers ?? {},
    agent: false,
  });
  asked.end(options.body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}

/** The certificate that a new connection is shown. */
export async function shownBy({ port, ca }: Secured, host = '127.0.0.1'): Promise<PeerCertificate> {
  const socket: TLSSocket = connect({ host, port, ca });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}

/** A certificate of nobody's authority for that address, with its key, into these files. */
export async function selfSigned(
  name: string,
  cert: string,
  key: string,
  address = '127.0.0.1',
): Promise<void> {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'];
  const who = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=IP:${address}`];
  await promisify(execFile)('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...who]);
}
