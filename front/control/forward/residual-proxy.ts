import { lstatSync } from 'node:fs';
import { Agent, type ClientRequestArgs, request as httpRequest, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LOCAL_SOCKET, type Principal } from '../../../shared/auth/principal.ts';
import {
  ENDED_ROW,
  encodeMark,
  type Mark,
  PRINCIPAL_HEADER,
  PROOF_HEADER,
} from '../../../shared/auth/principal-mark.ts';
import { ApiError, codeOf, errorWord, isErrorCode, messageOf } from '../../../shared/errors.ts';
import { readBytes } from '../../../shared/http/body.ts';
import { asRecord, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { MadeAnswer, RowId } from '../../../shared/routes/typed-row.ts';
import type { Pass } from '../edge/decision.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';
import type { Step } from '../middleware/exchange.ts';
import { Forwarder } from './forwarder.ts';

/** Forwards a decided request to the residual over its Unix socket, with the decision (docs/contract/edge.md#handler-or-proxy). */

const SCOPES_HEADER = 'x-svc-mcp-scopes';
const MAX_SOCKETS = 128;
// Shorter than the residual's own keep-alive (60 s), so that no request goes out on a socket that the residual is closing.
const IDLE_MS = 30_000;
const MAX_WATCHED = 1024;
const CALL_MS = 500;
const END_TRIES = 5;
/** Of a request on behalf of a row of the front. */
const WORK_MS = 8000;
/** 2000 recordings, each with its name. */
const MAX_ANSWER_BYTES = 512 * 1024;

interface ResidualProxyOptions {
  readonly socketPath: string;
  /** Proves to the residual that we are svc-control. */
  readonly proof: string;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  readonly principalWatch: PrincipalWatch;
  readonly log: Logger;
}

/** A row that this process asks for itself. */
type Own<K extends RowId> = Pick<Row, 'path' | 'method'> & { readonly id: K };

/**
 * Connects only to a socket that is our own: connect(2) would follow a symbolic link to another user's socket, and we would
 * trust its answers (docs/threat-model.md H5). Checked for each new connection, not for each request.
 */
class OwnSocketAgent extends Agent {
  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const path = options.socketPath ?? '';
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.isSocket() && found.uid === process.getuid?.()))
      return super.createConnection(options, callback);
    const error = new Error(`${path} is not a socket of ours`);
    return new Socket().destroy(Object.assign(error, { code: 'ECONNREFUSED' })); // the same error as if nothing listened
  }
}

export class ResidualProxy {
  readonly #options: ResidualProxyOptions;
  readonly #agent = new OwnSocketAgent({
    keepAlive: true,
    maxSockets: MAX_SOCKETS,
    maxFreeSockets: 64,
    timeout: IDLE_MS,
  });
  readonly #forwarder: Forwarder;
  /** Principals that may have something open in the residual, by id, oldest first. */
  readonly #watched = new Map<string, () => void>();

  constructor(options: ResidualProxyOptions) {
    this.#options = options;
    this.#forwarder = new Forwarder({
      agent: this.#agent,
      target: {
        target: { socketPath: options.socketPath, protocol: 'http:', host: 'localhost', port: 80 },
      },
      now: options.now,
      principalWatch: options.principalWatch,
      headers: (pass) => this.#headersOf(pass),
      timeoutMs: ({ row }) => row.limits.timeoutMs,
      errorOf: (error) => this.#apiError(error),
      lateOf: ({ row }) => new ApiError('E_TIMEOUT', `No answer within ${row.limits.timeoutMs} ms.`),
    });
  }

  /** Whoever has something open in the residual since before this process began is watched again. */
  start(): void {
    this.#forwarder.start();
    this.#end([], (open) => {
      for (const principal of open) this.#watch(principal);
    });
  }

  stop(): void {
    this.#forwarder.stop();
  }

  /** Forwards a request that has passed decide and settle, and returns the answer. */
  readonly middleware: Step = (req, res, next) => {
    const { row, principal } = res.locals.pass;
    if (row.method !== 'GET') this.#watch(principal);
    this.#forwarder.middleware(req, res, next);
  };

  get full(): boolean {
    return this.#forwarder.full;
  }

  /** As `Forwarder.upgrade`; the residual completes the handshake. */
  upgrade(...args: Parameters<Forwarder['upgrade']>): void {
    this.#forwarder.upgrade(...args);
  }

  #headersOf({ row, params, principal, forced }: Pass): Readonly<Record<string, string>> {
    return {
      [PROOF_HEADER]: this.#options.proof,
      [PRINCIPAL_HEADER]: encodeMark({ row: row.id, params, principal, forced }),
      // Only set for a verified token; the client's own header was removed.
      ...(principal.scopes === null ? {} : { [SCOPES_HEADER]: principal.scopes.join(',') }),
    };
  }

  /** Tells the residual when this principal has ended, so that the things it opened there (a WHEP session) end too. */
  #watch(principal: Principal): void {
    const { id } = principal;
    if (this.#watched.has(id)) return;
    const [oldest] = this.#watched;
    if (this.#watched.size >= MAX_WATCHED && oldest !== undefined) {
      oldest[1]();
      this.#watched.delete(oldest[0]);
    }
    const release = this.#options.principalWatch.onEnd(principal, () => {
      this.#watched.delete(id);
      this.#end([id], () => undefined);
    });
    this.#watched.set(id, release);
  }

  /** The answer of a GET row without parameters, for svc-control itself; null if there is no answer. */
  async ask<K extends RowId>(row: Own<K>): Promise<MadeAnswer<K> | null> {
    return this.#call<MadeAnswer<K>>(row, {}, CALL_MS).catch((error: unknown) => {
      this.#options.log.debug(`residual: ${row.id}: ${messageOf(error)}`); // its own routes report that it is away
      return null;
    });
  }

  /**
   * The answer of a row without parameters, for a row of the front. @throws ApiError the residual's own, E_UPSTREAM_DOWN,
   * E_UPSTREAM, E_TIMEOUT
   */
  async call<K extends RowId>(row: Own<K>, body?: unknown): Promise<MadeAnswer<K>> {
    return this.#call<MadeAnswer<K>>(row, {}, WORK_MS, body).catch((error: unknown) => {
      throw error instanceof ApiError ? error : this.#apiError(error);
    });
  }

  /** @param left remaining tries; a residual that does not run has nothing open */
  #end(ids: readonly string[], answered: (open: readonly Principal[]) => void, left = END_TRIES): void {
    this.#call<readonly Principal[]>(
      { id: ENDED_ROW, path: '/', method: 'GET' },
      Object.fromEntries(ids.entries()),
      CALL_MS,
    ).then(answered, (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return;
      if (left > 1) this.#end(ids, answered, left - 1);
      else
        this.#options.log.error(
          `residual: could not be notified that ${ids.join(', ')} ended: ${messageOf(error)}`,
        );
    });
  }

  /**
   * Sends the residual a request of our own. @throws the connection's error, ApiError E_TIMEOUT, and for another answer than 200
   * the residual's own or E_UPSTREAM
   */
  async #call<Answered>(
    { id, path, method }: Pick<Row, 'id' | 'path' | 'method'>,
    params: Mark['params'],
    timeoutMs: number,
    body?: unknown,
  ): Promise<Answered> {
    const { proof, socketPath } = this.#options;
    const mark: Mark = { row: id, params, principal: LOCAL_SOCKET, forced: false };
    const sent = body === undefined ? '' : JSON.stringify(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = httpRequest({
        socketPath,
        path,
        method,
        agent: this.#agent,
        headers: {
          [PROOF_HEADER]: proof,
          [PRINCIPAL_HEADER]: encodeMark(mark),
          ...(sent === ''
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
        },
        timeout: timeoutMs,
      });
      call.on('timeout', () =>
        call.destroy(new ApiError('E_TIMEOUT', `The residual did not answer within ${timeoutMs} ms.`)),
      );
      call.on('error', reject);
      call.on('response', resolve);
      call.end(sent);
    });
    const text = (await readBytes(answer, MAX_ANSWER_BYTES)).toString('utf8');
    if (answer.statusCode !== 200) throw failureIn(answer, text);
    // Made by our own handlers, which are typed by their rows.
    return parseJson(text) as Answered;
  }

  #apiError(error: unknown): ApiError {
    const code = codeOf(error) ?? '';
    if (['ENOENT', 'ECONNREFUSED', 'EACCES'].includes(code)) {
      return new ApiError(
        'E_UPSTREAM_DOWN',
        'svc-residual is not running. Try again shortly.',
        {},
        { 'retry-after': '1' },
      );
    }
    this.#options.log.warn(`residual: ${code} ${messageOf(error)}`);
    return new ApiError('E_UPSTREAM', 'The residual process broke off before it answered. Try again.');
  }
}

/** The error in an answer of the residual, with its own words if it has any. */
function failureIn({ statusCode = 0, headers }: IncomingMessage, text: string): ApiError {
  const unknown = new ApiError('E_UPSTREAM', `The residual answered ${statusCode}.`);
  try {
    const body = asRecord(parseJson(text));
    const { code: _code, error: _error, detail, ...extras } = body;
    const code = errorWord(body);
    if (!isErrorCode(code) || typeof detail !== 'string') return unknown;
    const after = headers['retry-after'];
    return new ApiError(code, detail, extras, after === undefined ? {} : { 'retry-after': after });
  } catch {
    return unknown; // no JSON
  }
}
