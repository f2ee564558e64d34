import { isIP } from 'node:net';
import { shownFingerprint } from '../certificates/fingerprint.ts';
import { ApiError, codeOf, type ErrorCode, errorWord, messageOf } from '../errors.ts';
import { type JsonObject, recordOf } from '../member.ts';
import { plainText } from '../plain-text.ts';
import { authorityOf, isPort, type KnownNode, type KnownNodes } from './known-nodes.ts';
import { type NodeAnswer, type NodePlace, requestNode } from './node-request.ts';

/** A node as a person names it; with a scheme only where they wrote one. */
export interface NamedNode {
  readonly scheme: 'http' | 'https' | null;
  /** Lower case; an IPv6 address without brackets, with its zone (`fe80::1%eth0`) as it was written. */
  readonly host: string;
  readonly port: number;
}

/** Where it is asked. `tls`: by HTTPS, judged by the authority of this node, or else by the system's. */
export interface ReachedNode {
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly ca?: string };
}

/** A node that nobody here has known before. */
export interface Stranger {
  /** As its owner would type it. */
  readonly at: string;
  readonly deviceId: string;
  readonly sha256: string;
}

/** Returns if a person, or what they wrote, vouches for the stranger. @throws Untrusted */
export type Agree = (stranger: Stranger) => Promise<void>;

const PORT = 8080;
const TLS_PORT = 8443;
const ASK_MS = 3000;
const MAX_BYTES = 64 * 1024;

/** The node is not the one that is known, or would be spoken to in the clear: nothing that is secret was sent. */
export class Untrusted extends ApiError {
  constructor(message: string, code: ErrorCode = 'E_UPSTREAM') {
    super(code, `${message} Nothing that is secret was sent.`);
  }
}

/**
 * @param text `host`, `host:port`, an IPv6 address, `[v6]:port`, `http://…` or `https://…` (8443 unless told)
 * @returns null for anything else
 */
export function namedNode(text: string): NamedNode | null {
  if (isIP(text) === 6) return { scheme: null, host: lowered(text), port: PORT };
  const match = /^(?:(https?):\/\/)?(?:\[([^\]/]+)\]|([^:/?#@\s[\]]+))(?::(\d{1,5}))?\/?$/i.exec(text);
  const [, , v6, name] = match ?? [];
  const host = v6 === undefined ? name?.toLowerCase() : lowered(v6.replace('%25', '%'));
  if (host === undefined || host === '') return null;
  const scheme = match?.[1]?.toLowerCase();
  const usual = scheme === 'https' ? TLS_PORT : scheme === 'http' ? 80 : PORT;
  const port = Number(match?.[4] ?? usual);
  if (!isPort(port)) return null;
  return { scheme: scheme === 'https' || scheme === 'http' ? scheme : null, host, port };
}

/** An interface may have capitals in its name. */
function lowered(v6: string): string {
  return v6.replace(/^[^%]*/, (address) => address.toLowerCase());
}

/** `host:port`, with an IPv6 address in brackets. */
function placeText({ host, port }: Pick<NamedNode, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** For requestNode. */
export function placeOfNode(node: ReachedNode): NodePlace & { readonly baseUrl: string } {
  const at = placeText(node);
  return node.tls === undefined
    ? { baseUrl: `http://${at}` }
    : { baseUrl: `https://${at}`, tls: node.tls, keep: true };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * How a node is spoken to: by HTTPS if it is known or serves it, judged by the authority that is known or that `agree` vouches
 * for; in the clear only where the person wrote `http://`, on this machine, or where it has no HTTPS; never if it is known.
 * @param always also on this machine
 * @throws Untrusted; the system's own error where nobody answers
 */
export async function reachNode(
  named: NamedNode,
  known: KnownNodes,
  agree: Agree,
  always = false,
): Promise<ReachedNode> {
  const pinned = pinnedNode(named, known);
  if (pinned !== null) return pinned;
  if (named.scheme === 'https') return secured(named, named.port, known, agree);
  const asks = named.scheme === null && (always || !isLoopback(named.host));
  const tlsPort = asks ? await tlsPortAt(named) : null;
  return tlsPort === null ? inTheClear(named, known) : secured(named, tlsPort, known, agree);
}

/** Of a node that is known at this place. @throws Untrusted where the person wrote `http://` */
export function pinnedNode({ scheme, host, port }: NamedNode, known: KnownNodes): ReachedNode | null {
  const found = known.at(host, port);
  if (found === null) return null;
  if (scheme === 'http') throw clearText(placeText({ host, port }), found.node);
  return { host, port: found.place.tls_port, tls: { ca: found.node.authority } };
}

function clearText(at: string, { device_id: id }: KnownNode): Untrusted {
  return new Untrusted(
    `The node at ${at} is known here (${id}) by HTTPS, and is not spoken to in the clear. Leave http:// out. If it serves no HTTPS any more: svc known-nodes forget ${id}.`,
    'E_TLS_REQUIRED',
  );
}

async function inTheClear(named: NamedNode, known: KnownNodes): Promise<ReachedNode> {
  const { scheme, host, port } = named;
  if (!isLoopback(host)) {
    const at = placeText(named);
    if (scheme === null && known.hasHost(host))
      throw new Untrusted(
        `A node is known at ${host} by HTTPS; at ${at} there is none. If that is another node: http://${at}. If it serves no HTTPS any more: svc known-nodes forget ${host}.`,
        'E_TLS_REQUIRED',
      );
    if (known.all.length > 0) {
      const id = await deviceAt({ host, port }, known);
      const node = id === null ? null : known.device(id);
      if (node !== null) throw clearText(at, node);
    }
  }
  return { host, port };
}

/** Of a node at a place that is not known. */
async function secured(
  { scheme, host, port }: NamedNode,
  tlsPort: number,
  known: KnownNodes,
  agree: Agree,
): Promise<ReachedNode> {
  const at = placeText({ host, port: tlsPort });
  const held = known.at(host, tlsPort)?.node;
  const shown = held ?? (await authorityAt(host, tlsPort));
  if (shown === null) return { host, port: tlsPort, tls: {} }; // an operator's own certificate
  const { authority, authority_sha256: sha256 } = shown;
  const reached = { host, port: tlsPort, tls: { ca: authority } };
  // By this very authority: a certificate of another, or for other names, ends here.
  const id = await deviceAt(reached, known);
  if (id === null) throw new Untrusted(`What answers at ${at} does not say which node it is.`);
  const before = held ?? known.device(id);
  if (before !== null && before.authority_sha256 !== sha256) throw changed(at, before, sha256);
  if (before === null) await agree({ at, deviceId: id, sha256 });
  const plain = scheme === null ? port : tlsPort === TLS_PORT ? PORT : null;
  await known.remember(
    { device_id: id, authority, authority_sha256: sha256 },
    { host, port: plain, tls_port: tlsPort },
  );
  return reached;
}

function changed(at: string, node: KnownNode, sha256: string | null): Untrusted {
  const now = sha256 === null ? '' : ` It shows ${shownFingerprint(sha256)}.`;
  return new Untrusted(
    `CHANGED CERTIFICATE: the node at ${at} is known here as ${node.device_id} with the fingerprint ${shownFingerprint(node.authority_sha256)}, and what answers there now has another authority.${now} Somebody may stand in between, or it is another node, or it was reset. Compare with \`svc node fingerprint\` on the node itself; only if they agree: svc known-nodes forget ${node.device_id}, then try again.`,
  );
}

/** The certificate authority that is shown there, believed by nobody yet; null if there is none of the node's own. */
async function authorityAt(
  host: string,
  port: number,
): Promise<Pick<KnownNode, 'authority' | 'authority_sha256'> | null> {
  const at = placeText({ host, port });
  // Nothing secret goes there, and what comes back counts only when its fingerprint does.
  const place = { baseUrl: `https://${at}`, tls: { rejectUnauthorized: false } };
  const answer = await ask(place, '/ca.crt').catch((error: unknown) => {
    throw tlsProblem(error, { host, port, tls: {} }) ?? error;
  });
  if (answer.status === 404) return null;
  try {
    if (answer.status !== 200) throw new Error(`it answers ${answer.status}`);
    return authorityOf(answer.bytes.toString('utf8'));
  } catch (error) {
    throw new Untrusted(
      `What https://${at}/ca.crt answers is no certificate authority: ${messageOf(error)}.`,
    );
  }
}

/** The device id that a node says; null if it says none. */
async function deviceAt(node: ReachedNode, known: KnownNodes): Promise<string | null> {
  const answer = await ask(placeOfNode(node), '/api/pairing/info').catch((error: unknown) => {
    throw tlsProblem(error, node, known) ?? error;
  });
  const { device_id: id } = bodyOf(answer);
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : null;
}

/** The port of HTTPS; null where there is none, as of an older node. */
async function tlsPortAt({ host, port }: NamedNode): Promise<number | null> {
  const answer = await ask({ baseUrl: `http://${placeText({ host, port })}` }, '/api/tls');
  const body = bodyOf(answer);
  if (errorWord(body) === 'E_TLS_REQUIRED') {
    if (isPort(body['tls_port'])) return body['tls_port'];
    throw new Untrusted(
      `The node at ${placeText({ host, port })} takes HTTPS alone, and does not serve it.`,
      'E_TLS_REQUIRED',
    );
  }
  return answer.status === 200 && isPort(body['port']) ? body['port'] : null;
}

async function ask(place: NodePlace, path: string): Promise<NodeAnswer> {
  return requestNode(place, { method: 'GET', path, timeoutMs: ASK_MS, maxBytes: MAX_BYTES });
}

function bodyOf({ bytes }: NodeAnswer): JsonObject {
  try {
    return recordOf(JSON.parse(bytes.toString('utf8')));
  } catch {
    return {}; // no node of ours, or an older one
  }
}

/** Node's names for what OpenSSL finds wrong with a chain. */
const OTHER_AUTHORITY =
  /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_SIGNATURE|CERT_UNTRUSTED|CERT_REJECTED|INVALID_CA)/;
const DATES = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)/;
const NO_TLS = /^(?:EPROTO|ERR_SSL_|ERR_TLS_)/;

/** What TLS does not let pass, in words with the way out; null for any other error. @param known whose place it is, if known */
export function tlsProblem(
  error: unknown,
  node: ReachedNode,
  known: KnownNodes | null = null,
): Untrusted | null {
  const code = codeOf(error) ?? '';
  if (node.tls === undefined || error instanceof ApiError) return null;
  const at = placeText(node);
  const said = plainText(messageOf(error)).slice(0, 300);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new Untrusted(
      `The certificate at ${at} is not for ${node.host}: ${said} Use a name or an address that is in it.`,
    );
  if (OTHER_AUTHORITY.test(code)) {
    const found = known?.at(node.host, node.port)?.node;
    if (found !== undefined) return changed(at, found, null);
    return new Untrusted(`The certificate at ${at} is of an authority that is not known here (${said}).`);
  }
  if (DATES.test(code))
    return new Untrusted(`The certificate at ${at} does not count today (${said}). Look at both clocks.`);
  if (NO_TLS.test(code) || code === 'UNSPECIFIED')
    return new Untrusted(`There is no TLS with what answers at ${at} (${said}).`);
  return null;
}
