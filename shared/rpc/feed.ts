import { connect } from 'node:net';
import type { Scope } from '../auth/scopes.ts';
import { messageOf } from '../errors.ts';
import type { Frame } from '../mavlink/frame.ts';
import { Framer } from '../mavlink/framer.ts';

/**
 * The first line of a client of `mavlink.sock`, answered by one line with a FeedReply; then MAVLink goes both ways. The edge
 * has decided what the client may do.
 */
export interface FeedHello {
  /** Shown in the diagnostics. */
  readonly name: string;
  /** False: its frames are dropped and counted. */
  readonly write: boolean;
  /** The armed guard on the wire is overridden. */
  readonly force: boolean;
  /** Of a token: what it holds; absent where nobody has scopes. */
  readonly scopes?: readonly Scope[];
  /** Messages it wants, `ATTITUDE@5,HEARTBEAT`; null for all. */
  readonly msgs: string | null;
  /** How the client calls itself, null for nobody; absent where the pilot in command does not matter. */
  readonly client_id?: string | null;
  /**
   * It is this component of the vehicle's system: only frames from it, of these messages, are taken, and the node sends its heartbeat.
   * Refused where there is such a component already.
   */
  readonly component?: FeedComponent;
}

export interface FeedComponent {
  readonly id: number;
  /** MAV_TYPE */
  readonly type: number;
  /** Ids. */
  readonly messages: readonly number[];
}

export type FeedReply = { readonly ok: true } | { readonly ok: false; readonly detail: string };

/** Limit of bytes that svc-link has not read yet; it reads at once, so only a flood reaches it. */
const MAX_WAITING_BYTES = 256 * 1024;
const REPLY_MS = 2000;
const LF = 0x0a;
const MAX_REPLY_BYTES = 4096;

interface FeedOptions {
  /** svc-link's `mavlink.sock`. */
  readonly path: string;
  readonly hello: FeedHello;
  /** The frame's bytes hold until this returns. */
  readonly onFrame: (frame: Frame) => void;
  /** svc-link has taken the client. */
  readonly onOpen?: () => void;
  /** svc-link refused, with its reason; `onEnd` follows. */
  readonly onRefused: (reason: string) => void;
  /** Once: the connection has ended, or never was. */
  readonly onEnd: (problem: string) => void;
}

/** Raw MAVLink of svc-link, which enforces what this client may send (its `hello`). */
export interface Feed {
  /** Whole frames; false: dropped, as svc-link does not read. */
  write(frames: Uint8Array): boolean;
  end(): void;
}

export function openFeed({ path, hello, onFrame, onOpen, onRefused, onEnd }: FeedOptions): Feed {
  const link = connect(path);
  const framer = new Framer(onFrame);
  let head: Buffer | null = Buffer.alloc(0);
  let problem = 'svc-link has ended';
  link.setTimeout(REPLY_MS, () => link.destroy(new Error('svc-link does not answer')));
  link.write(`${JSON.stringify(hello)}\n`); // before any frame of a client that sends early
  link.on('data', (chunk: Buffer) => {
    if (head === null) {
      framer.push(chunk, performance.now());
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(LF);
    if (end === -1) {
      if (head.length > MAX_REPLY_BYTES) link.destroy(new Error('svc-link sent no valid reply'));
      return;
    }
    const reply = parseReply(head.toString('utf8', 0, end));
    const rest = head.subarray(end + 1);
    head = null;
    link.setTimeout(0);
    if (reply.ok) {
      onOpen?.();
      framer.push(rest, performance.now());
    } else {
      onRefused(reply.detail);
      link.destroy();
    }
  });
  link.on('error', (error) => {
    problem = messageOf(error);
  });
  link.on('close', () => onEnd(problem));
  return {
    write(frames) {
      if (link.destroyed || link.writableLength >= MAX_WAITING_BYTES) return false;
      link.write(frames);
      return true;
    },
    end: () => link.destroy(),
  };
}

function parseReply(line: string): FeedReply {
  try {
    return JSON.parse(line) as FeedReply;
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}
