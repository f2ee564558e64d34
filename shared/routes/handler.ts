import type { FileHandle } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FromSchema } from 'json-schema-to-ts';
import type { Principal } from '../auth/principal.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { ReadonlyDeep } from '../schemas/readonly-deep.ts';
import type { Row } from './row.ts';
import type { PathParams } from './target.ts';

/** Input and output of a row's handler; typed from the row, so that table and code always match. */

type BodyOf<R extends Row> = R['body'] extends JsonSchema
  ? FromSchema<R['body']>
  : R['bodyKind'] extends 'raw'
    ? Buffer
    : R['bodyKind'] extends 'stream'
      ? Readable
      : unknown;

/** How far long work is; `total` null: not known yet. */
export interface Progress {
  readonly done: number;
  readonly total: number | null;
  /** A few words for people. */
  readonly text: string;
}

export type OnProgress = (progress: Progress) => void;

export interface Call<R extends Row> {
  readonly params: Readonly<Record<PathParams<R['path']>, string>>;
  /** The raw query, without the question mark. */
  readonly query: string;
  /** Validated against the row's schema; a Buffer or a Readable where the row takes the bytes raw or as a stream. */
  readonly body: BodyOf<R>;
  /** For headers such as `if-match` and `range`; behind the proxy there are no credentials in it. */
  readonly headers: IncomingHttpHeaders;
  readonly principal: Principal;
  /** The caller's address as a key for counting; empty behind the proxy. */
  readonly peer: string;
  /** The armed guard was overridden. */
  readonly forced: boolean;
  /** Shown to a client that asked for events, where the row is `long`; else nobody hears it. */
  readonly progress: OnProgress;
  /** Aborts when the connection of the client has ended; of the rows of the residual. */
  readonly gone?: AbortSignal;
}

/** An answer that is not plain `200` with JSON. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly mediaType: string;
  /** Lower case; added to those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param body sent as JSON, unless it is a string, a Buffer or a Readable with its own media type */
  constructor(
    status: number,
    body: unknown,
    mediaType = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.status = status;
    this.body = body;
    this.mediaType = mediaType;
    this.headers = headers;
  }
}

/** A file as the answer, with ranges and conditions (RFC 9110). */
export class FileReply {
  readonly file: FileHandle;
  readonly mediaType: string;
  /** Lower case; added to those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param file open; closed after it was sent. The handler has checked that the caller may have it */
  constructor(file: FileHandle, mediaType: string, headers: Readonly<Record<string, string>> = {}) {
    this.file = file;
    this.mediaType = mediaType;
    this.headers = headers;
  }
}

/** What a row answers with 200 or 202, by its schema; one that answers no JSON, or in no one shape, says a Reply. */
type AnswerOf<R extends Row> = R extends {
  readonly responses: { readonly [S in 200 | 202]?: { readonly schema: infer A extends JsonSchema } };
}
  ? ReadonlyDeep<FromSchema<A>>
  : never;

/** An answer is one of its row's schema, or a Reply; or it throws ApiError. */
type HandlerAnswer<R extends Row> = AnswerOf<R> | Reply | FileReply;
export type Handler<R extends Row> = (call: Call<R>) => HandlerAnswer<R> | Promise<HandlerAnswer<R>>;

/** Of whatever row: what dispatches it knows no more. */
export type AnyHandler = (call: Call<Row>) => unknown;

/**
 * The extra arguments of a WebSocket handler: the socket, and a signal that aborts when the client's credential ends. After
 * that, messages of the client must be ignored, even if it stays connected.
 */
export type SocketHandler<R extends Row, Socket> = (
  call: Omit<Call<R>, 'body' | 'progress'> & {
    /** How the client calls itself, null for nobody. */
    readonly clientId: string | null;
  },
  socket: Socket,
  ended: AbortSignal,
) => void;

/** Exactly one socket handler for each WebSocket row of `Rows` that is built in `Lane`. */
export type SocketHandlersOf<Rows extends readonly Row[], Lane extends Row['lane'], Socket> = {
  readonly [R in Extract<
    Rows[number],
    { readonly lane: Lane; readonly built: true; readonly method: 'WS' }
  > as R['id']]: SocketHandler<R, Socket>;
};

/** Exactly one handler for each row of `Rows` that is built in `Lane`: a missing or an extra one does not compile. */
export type HandlersOf<Rows extends readonly Row[], Lane extends Row['lane']> = {
  readonly [R in Exclude<
    Extract<Rows[number], { readonly lane: Lane; readonly built: true }>,
    { readonly method: 'WS' }
  > as R['id']]: Handler<R>;
};

/** Socket handlers by row id; see `handlerMap`. */
export function socketHandlerMap<Socket>(
  handlers: Readonly<Record<string, (call: never, socket: Socket, ended: AbortSignal) => void>>,
): ReadonlyMap<string, SocketHandler<Row, Socket>> {
  return new Map(Object.entries(handlers) as [string, SocketHandler<Row, Socket>][]);
}

/**
 * Handlers by row id, as what dispatches them needs: it calls each only with input that passed the schemas of its own row.
 * @param handlers typed by their rows, `HandlersOf` or a part of it
 */
export function handlerMap(
  handlers: Readonly<Record<string, (call: never) => unknown>>,
): ReadonlyMap<string, AnyHandler> {
  return new Map(Object.entries(handlers) as [string, AnyHandler][]);
}
