import { decode, encode } from '@msgpack/msgpack';
import { isRecord } from '../member.ts';
import { checkMsgpack } from './msgpack-check.ts';

/** What goes over an extension's socket, in either direction: 4 bytes of length, big-endian, then this as a MessagePack map. */
export interface IpcMessage {
  readonly v: 1;
  readonly t: 'request' | 'response' | 'event';
  /** Method of a request, name of an event. */
  readonly m?: string;
  /** A capability's name; the node looks up the grants itself. */
  readonly c?: string;
  /** Arguments or result. */
  readonly a?: unknown;
  /** Ties a response to its request. */
  readonly id?: number | string;
  /** Accepted and ignored: the socket is the credential. */
  readonly tok?: string;
  readonly err?: string;
}

export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
const HEADER = 4;
const MAX_TEXT = { m: 128, c: 128, tok: 4096, err: 4096 } as const;

/** @throws when the message is larger than a frame may be */
export function encodeFrame(message: IpcMessage): Buffer {
  const body = encode(message, { ignoreUndefined: true });
  if (body.length > MAX_FRAME_BYTES)
    throw new Error(
      `a message of ${body.length} bytes is larger than the ${MAX_FRAME_BYTES} bytes of a frame`,
    );
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  frame.writeUInt32BE(body.length, 0);
  frame.set(body, HEADER);
  return frame;
}

/** Takes a stream's bytes apart. Holds at most one frame. After an error the connection is of no use any more. */
export class FrameReader {
  readonly #header = Buffer.alloc(HEADER);
  #body: Buffer | null = null;
  #filled = 0;

  /**
   * The messages that this chunk completes.
   * @throws for a frame that is empty, too large, or no message
   */
  push(chunk: Buffer): IpcMessage[] {
    const messages: IpcMessage[] = [];
    for (let at = 0; at < chunk.length; ) {
      const target = this.#body ?? this.#header;
      const copied = chunk.copy(target, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < target.length) break;
      this.#filled = 0;
      if (this.#body === null) {
        this.#body = bodyFor(this.#header.readUInt32BE(0));
      } else {
        messages.push(messageIn(this.#body));
        this.#body = null;
      }
    }
    return messages;
  }
}

function bodyFor(size: number): Buffer {
  if (size === 0 || size > MAX_FRAME_BYTES)
    throw new Error(`a frame of ${size} bytes: it must have 1 to ${MAX_FRAME_BYTES}`);
  return Buffer.allocUnsafeSlow(size);
}

function messageIn(frame: Buffer): IpcMessage {
  checkMsgpack(frame);
  const value: unknown = decode(frame);
  if (!isMessage(value)) throw new Error('a frame is no message: it needs v = 1 and a t that is known');
  return value;
}

function isMessage(fields: unknown): fields is IpcMessage {
  if (!isRecord(fields)) return false;
  if (fields['v'] !== 1 || !['request', 'response', 'event'].includes(String(fields['t']))) return false;
  const id = fields['id'];
  const isId =
    id === undefined || Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_TEXT.m);
  if (!isId) return false;
  if (fields['t'] !== 'response' && typeof fields['m'] !== 'string') return false;
  if (fields['t'] !== 'event' && id === undefined) return false;
  return Object.entries(MAX_TEXT).every(([name, max]) => {
    const text = fields[name];
    return text === undefined || text === null || (typeof text === 'string' && text.length <= max);
  });
}
