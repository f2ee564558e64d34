import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { isBrokerUrl } from '../../../shared/fleet/broker-ways.ts';
import { caHashOf, type EnrolmentCode } from '../../../shared/fleet/code.ts';
import {
  type Enrolled,
  type EnrollRequest,
  enrolled,
  type TurnGrant,
  turnGrant,
} from '../../../shared/fleet/hub-api.ts';
import { type NodeAnswer, type NodePlace, requestNode } from '../../../shared/http/node-request.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import { checked } from '../../../shared/schemas/checked.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

const CA_MS = 5000;
const ANSWER_MS = 15_000;
const CA_BYTES = 64 * 1024;
/** A policy with every credential that it can end. */
const ANSWER_BYTES = 2 * 1024 * 1024;

const isEnrolled = validatorOf(enrolled);
const isTurnGrant = validatorOf(turnGrant);
/** One that knows no TURN servers may be updated. */
const OLD_HUB_S = 6 * 3600;

/** A hub that this node trusts: where it is, and the one authority that its certificate must be of (PEM). */
export interface Hub {
  readonly url: string;
  readonly ca: string;
}

/** What the hub answers must fit. */
export interface Expected {
  readonly node: string;
  /** PEM of the key that the certificate is for, private half. */
  readonly key: string;
}

/**
 * The hub's address, without a path.
 * @throws ApiError E_INVALID_VALUE; plain http only to this machine, where nobody is between
 */
export function parseHub(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url?.protocol === 'http:';
  if (url === null || (!plain && url.protocol !== 'https:') || url.href !== `${url.origin}/`)
    throw invalid('hub', 'must be the address of the hub alone, as in https://hub.example:8193');
  if (plain && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
    throw invalid('hub', 'must begin with https: plain http is only for a hub on this machine');
  return url.origin;
}

/**
 * The hub's authority, if it is the one that the code names. Who answers is not known yet, so nothing is sent.
 * @throws ApiError E_CODE for another one; E_UPSTREAM, E_UPSTREAM_DOWN, E_TIMEOUT
 */
export async function fetchAuthority(url: string, { caHash }: EnrolmentCode): Promise<Hub> {
  const place = { baseUrl: url, tls: { rejectUnauthorized: false } };
  const answer = await ask(place, url, 'GET', '/v1/ca', undefined, CA_MS, CA_BYTES);
  const ca = answer.status === 200 ? certificateOf(answer.bytes) : null;
  if (ca === null || !ca.ca) throw upstream(url, 'shows no certificate authority. Is it a svc-hub?');
  if (caHashOf(ca) !== caHash)
    throw new ApiError(
      'E_CODE',
      `The hub at ${url} did not make this code, or someone is in the middle. Nothing was sent to it.`,
    );
  // Written anew: behind this certificate the answer may hold others, which nobody has checked.
  return { url, ca: ca.toString() };
}

/**
 * Shows the one-time secret, on a connection whose certificate is of the hub's authority and names the host.
 * @throws ApiError E_CODE where the hub does not take it; E_CLOCK; E_UPSTREAM, E_UPSTREAM_DOWN, E_TIMEOUT: the hub may have taken it
 */
export async function enrolAt(hub: Hub, request: EnrollRequest, expected: Expected): Promise<Enrolled> {
  const answer = await send(hub, '/v1/enroll', request);
  if (answer.status === 401 || answer.status === 403)
    throw new ApiError('E_CODE', `The hub at ${hub.url} does not take this code: ${wordsOf(answer)}`);
  return fitting(hub, answer, expected);
}

/** @param statement a `svc-renew` @throws ApiError as `enrolAt`; E_UNAUTHENTICATED: the hub no longer knows this node's key */
export async function renewAt(hub: Hub, statement: string, expected: Expected): Promise<Enrolled> {
  const answer = await send(hub, '/v1/renew', { statement });
  if (answer.status === 401 || answer.status === 403)
    throw new ApiError('E_UNAUTHENTICATED', `The hub at ${hub.url} refuses this node: ${wordsOf(answer)}`);
  return fitting(hub, answer, expected);
}

/** @param statement a `svc-turn` @throws ApiError as `renewAt` */
export async function turnAt(hub: Hub, statement: string): Promise<TurnGrant> {
  const answer = await send(hub, '/v1/turn', { statement });
  if (answer.status === 404) return { ice_servers: [], ttl_s: OLD_HUB_S };
  if (answer.status >= 300) throw upstream(hub.url, `answered ${answer.status}: ${wordsOf(answer)}`);
  return checked(isTurnGrant, jsonOf(answer), (fault) =>
    upstream(hub.url, `sent what are no TURN servers: ${fault}.`),
  );
}

async function send({ url, ca }: Hub, path: string, body: unknown): Promise<NodeAnswer> {
  const place = { baseUrl: url, tls: { ca, rejectUnauthorized: true } };
  return ask(place, url, 'POST', path, body, ANSWER_MS, ANSWER_BYTES);
}

/** Nothing of an answer counts unless all of it fits together. @throws ApiError E_UPSTREAM */
function fitting({ url, ca }: Hub, answer: NodeAnswer, { node, key }: Expected): Enrolled {
  if (answer.status >= 300) throw upstream(url, `answered ${answer.status}: ${wordsOf(answer)}`);
  const found = checked(isEnrolled, jsonOf(answer), (fault) =>
    upstream(url, `sent what is no enrolment: ${fault}.`),
  );
  const wrong = misfit(found, new X509Certificate(ca), node, key);
  if (wrong !== null) throw upstream(url, `sent what does not fit: ${wrong}.`);
  return { ...found, ca };
}

function misfit(found: Enrolled, ca: X509Certificate, node: string, key: string): string | null {
  const given = certificateOf(Buffer.from(found.ca));
  const certificate = certificateOf(Buffer.from(found.certificate));
  if (found.node !== node) return 'the certificate is for another node';
  if (given === null || given.fingerprint256 !== ca.fingerprint256) return 'another certificate authority';
  if (certificate === null || !certificate.checkIssued(ca) || !certificate.verify(ca.publicKey))
    return "the certificate is not of the fleet's authority";
  if (!certificate.checkPrivateKey(createPrivateKey(key)))
    return "the certificate is not for this node's key";
  if (certificate.subject !== `CN=${node}`) return 'the certificate has another name';
  if (!isBrokerUrl(found.broker, 'tls')) return 'the broker is not mqtts://host:port';
  if (found.broker_ws !== undefined && !isBrokerUrl(found.broker_ws, 'websocket'))
    return 'the broker by WebSocket is not wss://host:port/path';
  return null;
}

async function ask(
  place: NodePlace,
  url: string,
  method: string,
  path: string,
  body: unknown,
  timeoutMs: number,
  maxBytes: number,
): Promise<NodeAnswer> {
  return requestNode(place, { method, path, body, timeoutMs, maxBytes }).catch((error: unknown) => {
    throw failed(error, url);
  });
}

function failed(error: unknown, url: string): ApiError {
  if (error instanceof ApiError)
    return error.code === 'E_TIMEOUT'
      ? new ApiError('E_TIMEOUT', `The hub at ${url} did not answer in time.`)
      : upstream(url, 'sent too much.');
  const code = String(codeOf(error));
  if (code === 'CERT_NOT_YET_VALID')
    return new ApiError(
      'E_CLOCK',
      `The certificate of the hub at ${url} is not valid yet by this node's clock. Set the clock.`,
    );
  if (/CERT|SELF_SIGNED|UNABLE_TO|INVALID_PURPOSE/.test(code))
    return upstream(url, `does not prove that it is that hub: ${messageOf(error)}. Nothing was sent to it.`);
  return new ApiError('E_UPSTREAM_DOWN', `The hub at ${url} does not answer: ${messageOf(error)}.`);
}

/** The hub's own words, which the caller may show: they are bounded, and come as a sentence of JSON. */
function wordsOf(answer: NodeAnswer): string {
  const detail = memberOf(jsonOf(answer), 'detail');
  return typeof detail === 'string' ? detail.slice(0, 300) : 'it does not say why.';
}

function jsonOf({ bytes }: NodeAnswer): unknown {
  try {
    return parseJson(bytes.toString());
  } catch {
    return undefined; // the caller says that it is no JSON
  }
}

/** The first certificate in a PEM; null for none. */
function certificateOf(bytes: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(bytes);
  } catch {
    return null; // whatever it is, it is no certificate
  }
}

function upstream(url: string, what: string): ApiError {
  return new ApiError('E_UPSTREAM', `The hub at ${url} ${what}`);
}

export function invalid(member: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${member} ${message}.`, {
    errors: [{ path: `/${member}`, message }],
  });
}
