import { crc32 } from 'node:zlib';
import type { Channel } from './channel.ts';
import { FileTransferProtocol } from './messages.ts';
import type { Peer } from './mission-link.ts';

const OP = {
  none: 0,
  terminate: 1,
  reset: 2,
  list: 3,
  open: 4,
  read: 5,
  create: 6,
  write: 7,
  remove: 8,
  openToWrite: 11,
  crc: 14,
  burst: 15,
  ack: 128,
  nack: 129,
} as const;
/** Codes of a NAK. */
export const NAK = {
  fail: 1,
  failErrno: 2,
  invalidDataSize: 3,
  invalidSession: 4,
  noSessions: 5,
  endOfFile: 6,
  unknownCommand: 7,
  fileNotFound: 10,
} as const;
const EINVAL = 22;
const HEADER = 12;
const DATA = 239;
const PAYLOAD = 251;
const IDLE_MS = 3000; // a session that has been silent for so long may be taken by another
const BURST_READS = 2000;
/** Bytes of one uploaded file, and how many of them there are. */
const MAX_UPLOAD = 1_000_000;
const MAX_UPLOADS = 16;

/** What of its own the vehicle has. */
interface OwnFiles {
  /** The folder in `/` that they are in. */
  readonly folder: string;
  open(path: string): SimFile | 'invalid' | undefined;
}

/** A file of the vehicle that is open. */
export interface SimFile {
  /** What OpenFileRO says. */
  readonly sizeEstimate: number;
  /** @returns no bytes at the end of the file; undefined for a read of a size that it does not take */
  read(offset: number, size: number): Buffer | undefined;
}

interface Request {
  readonly seq: number;
  readonly session: number;
  readonly opcode: number;
  readonly size: number;
  readonly offset: number;
  readonly data: Buffer;
}

interface Reply {
  readonly opcode: number;
  readonly data: Buffer;
  readonly offset?: number;
  readonly burstComplete?: boolean;
}

interface Session {
  readonly id: number;
  readonly peer: Peer;
  readonly file: SimFile;
  /** The name of the upload that it writes. */
  readonly writes: string | undefined;
  heard: number;
}

/**
 * The server of MAVLink FTP (https://mavlink.io/en/services/ftp.html), with one session at a time whose id the client
 * chooses, as in ArduPilot 4.5. A vehicle takes files at any time, armed or not; they lie in `/`, as on a card.
 */
export class FtpServer {
  readonly #channel: Channel;
  readonly #own: OwnFiles;
  readonly #uploads = new Map<string, Buffer>();
  readonly #notOpen: number;
  #session: Session | undefined;
  #last: { readonly peer: Peer; readonly seq: number; readonly payload: Buffer } | undefined;

  /** @param notOpen the code for a read without an open file */
  constructor(channel: Channel, own: OwnFiles, notOpen: number) {
    this.#notOpen = notOpen;
    this.#channel = channel;
    this.#own = own;
  }

  reset(): void {
    this.#session = undefined;
    this.#last = undefined;
  }

  /** @param payload of FILE_TRANSFER_PROTOCOL @param now wall clock, ms */
  receive(peer: Peer, payload: Buffer, now: number): void {
    const request = readRequest(payload);
    if (request.opcode === OP.ack || request.opcode === OP.nack) return;
    const last = this.#last;
    if (last !== undefined && same(last.peer, peer) && last.seq === ((request.seq + 1) & 0xffff)) {
      this.#send(peer, last.payload); // the answer was lost: the request comes again
      return;
    }
    if (this.#session !== undefined && this.#mine(peer, request)) this.#session.heard = now;
    if (request.opcode === OP.burst) this.#burst(peer, request);
    else this.#reply(peer, request, this.#answer(peer, request, now));
  }

  #answer(peer: Peer, request: Request, now: number): Reply {
    switch (request.opcode) {
      case OP.none:
        return ack();
      case OP.terminate:
        if (this.#mine(peer, request)) this.#session = undefined;
        return ack();
      case OP.reset:
        if (this.#session !== undefined && same(this.#session.peer, peer)) this.#session = undefined;
        return ack();
      case OP.list:
        return this.#list(request);
      case OP.open:
      case OP.create:
      case OP.openToWrite:
        return this.#openFile(peer, request, now);
      case OP.write:
        return this.#write(peer, request);
      case OP.remove:
        return this.#uploads.delete(nameOf(request)) ? ack() : nak(NAK.fileNotFound);
      case OP.read:
        return this.#read(peer, request, request.offset, request.size);
      case OP.crc:
        return this.#checksum(request);
      default:
        return nak(NAK.unknownCommand);
    }
  }

  #openFile(peer: Peer, request: Request, now: number): Reply {
    const path = text(request);
    if (request.size === 0 || path === '') return nak(NAK.invalidDataSize);
    const session = this.#session;
    if (session !== undefined && now - session.heard < IDLE_MS) {
      if (!same(session.peer, peer)) return nak(NAK.noSessions);
      return nak(session.id === request.session ? NAK.fail : NAK.invalidSession);
    }
    if (request.opcode !== OP.open) {
      const known = this.#uploads.has(nameOf(request));
      if (!known && this.#uploads.size >= MAX_UPLOADS) return nak(NAK.fail);
      if (!known || request.opcode === OP.create) this.#uploads.set(nameOf(request), Buffer.alloc(0));
    }
    const file = this.#open(path);
    if (file === undefined) return nak(NAK.fileNotFound);
    if (file === 'invalid') return nak(NAK.failErrno, EINVAL);
    const writes = request.opcode === OP.open ? undefined : nameOf(request);
    this.#session = { id: request.session, peer, file, writes, heard: now };
    const size = Buffer.alloc(4);
    size.writeUInt32LE(file.sizeEstimate);
    return ack(size);
  }

  #open(path: string): SimFile | 'invalid' | undefined {
    const bytes = this.#uploads.get(path.replace(/^\//, ''));
    if (bytes === undefined) return this.#own.open(path);
    return { sizeEstimate: bytes.length, read: (offset, size) => bytes.subarray(offset, offset + size) };
  }

  #list(request: Request): Reply {
    if (nameOf(request) !== '') return nak(NAK.fileNotFound);
    const files = [...this.#uploads].map(([name, bytes]) => `F${name}\t${bytes.length}`);
    let data = '';
    for (const entry of [`D${this.#own.folder}`, ...files].slice(request.offset)) {
      if (data.length + entry.length + 1 > DATA) break;
      data += `${entry}\0`;
    }
    return data === '' ? nak(NAK.endOfFile) : ack(Buffer.from(data, 'latin1'));
  }

  #write(peer: Peer, request: Request): Reply {
    const { offset, size, data } = request;
    const name = this.#mine(peer, request) ? this.#session?.writes : undefined;
    if (name === undefined) return nak(NAK.invalidSession);
    if (offset + size > MAX_UPLOAD) return nak(NAK.fail);
    const before = this.#uploads.get(name) ?? Buffer.alloc(0);
    const after = Buffer.alloc(Math.max(before.length, offset + size));
    before.copy(after);
    data.copy(after, offset, 0, size);
    this.#uploads.set(name, after);
    return ack();
  }

  #read(peer: Peer, request: Request, offset: number, size: number): Reply {
    if (this.#session === undefined) return nak(this.#notOpen);
    if (!this.#mine(peer, request)) return nak(NAK.invalidSession);
    const bytes = this.#session.file.read(offset, Math.min(DATA, size));
    if (bytes === undefined) return nak(NAK.failErrno, EINVAL);
    return bytes.length === 0 ? nak(NAK.endOfFile) : { ...ack(bytes), offset };
  }

  #burst(peer: Peer, request: Request): void {
    const size = request.size === 0 ? DATA : request.size;
    let { offset } = request;
    for (let i = 0; i < BURST_READS; i++) {
      const reply = this.#read(peer, request, offset, size);
      const end = reply.opcode === OP.nack || i === BURST_READS - 1;
      this.#reply(peer, request, { ...reply, offset, burstComplete: end }, i);
      if (end) return;
      offset += reply.data.length;
    }
  }

  #checksum(request: Request): Reply {
    const file = this.#open(text(request));
    if (file === undefined) return nak(NAK.fileNotFound);
    if (file === 'invalid') return nak(NAK.failErrno, EINVAL);
    let crc = 0xffffffff; // ArduPilot's CRC-32 starts at zero and is not inverted
    for (let offset = 0; ; offset += DATA) {
      const bytes = file.read(offset, DATA);
      if (bytes === undefined || bytes.length === 0) break;
      crc = crc32(bytes, crc);
    }
    const answer = Buffer.alloc(4);
    answer.writeUInt32LE(~crc >>> 0);
    return ack(answer);
  }

  #mine(peer: Peer, request: Request): boolean {
    const session = this.#session;
    return session !== undefined && session.id === request.session && same(session.peer, peer);
  }

  #reply(peer: Peer, request: Request, reply: Reply, count = 0): void {
    const payload = Buffer.alloc(PAYLOAD);
    const seq = (request.seq + 1 + count) & 0xffff;
    payload.writeUInt16LE(seq, 0);
    payload.writeUInt8(request.session, 2);
    payload.writeUInt8(reply.opcode, 3);
    payload.writeUInt8(reply.data.length, 4);
    payload.writeUInt8(request.opcode, 5);
    payload.writeUInt8(reply.burstComplete === true ? 1 : 0, 6);
    payload.writeUInt32LE(reply.offset ?? request.offset, 8);
    reply.data.copy(payload, HEADER);
    // A burst is asked for again from where it broke off, so only single answers are kept.
    this.#last = request.opcode === OP.burst ? undefined : { peer, seq, payload };
    this.#send(peer, payload);
  }

  #send(peer: Peer, payload: Buffer): void {
    this.#channel.send(FileTransferProtocol, {
      targetSystem: peer.sysid,
      targetComponent: peer.compid,
      payload: [...payload],
    });
  }
}

function ack(data: Buffer = Buffer.alloc(0)): Reply {
  return { opcode: OP.ack, data };
}

function nak(...codes: readonly number[]): Reply {
  return { opcode: OP.nack, data: Buffer.from(codes) };
}

function same(a: Peer, b: Peer): boolean {
  return a.sysid === b.sysid && a.compid === b.compid;
}

function text({ data, size }: Request): string {
  return data.toString('latin1', 0, size).split('\0', 1)[0] ?? '';
}

function nameOf(request: Request): string {
  return text(request).replace(/^\//, '');
}

function readRequest(payload: Buffer): Request {
  return {
    seq: payload.readUInt16LE(0),
    session: payload.readUInt8(2),
    opcode: payload.readUInt8(3),
    size: payload.readUInt8(4),
    offset: payload.readUInt32LE(8),
    data: payload.subarray(HEADER),
  };
}
