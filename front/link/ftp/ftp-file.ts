import type { FtpMessage } from '../../../shared/mavlink/decode.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';

// Opcodes and errors of MAVLink FTP (mavlink.io/en/services/ftp.html).
const TERMINATE_SESSION = 1;
const RESET_SESSIONS = 2;
const OPEN_FILE_RO = 4;
const READ_FILE = 5;
const BURST_READ_FILE = 15;
const ACK = 128;
const NAK = 129;
const NAK_EOF = 6;
/**
 * Fail, invalid session, no sessions: how a vehicle says that it still has a file open, from a process of ours that was killed
 * or whose TerminateSession was lost. ArduPilot says the first two, PX4 the last.
 */
const NAK_STILL_OPEN: readonly number[] = [1, 4, 5];
/** RESET_SESSIONS may be lost too, and so may the answer to the OpenFileRO behind it, which then finds its own file open. */
const MAX_RESETS = 8;

const BLOCK = 239;
const MAX_FILE_BYTES = 1024 * 1024;
const REPLY_MS = 500;
/** Silence after which a burst has ended. */
const BURST_QUIET_MS = 400;
/** Requests in a row without an answer. */
const MAX_SILENT = 12;

interface FtpFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly ask: (bytes: Buffer) => void;
  /** Sequence number of the request before; the vehicle repeats its last answer to a number that it has seen. */
  readonly seq?: number;
  /** @param file null if the vehicle refused (`refused`), or stopped answering */
  readonly onEnd: (file: Buffer | null, refused: boolean) => void;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads one file from the vehicle over MAVLink FTP: bursts first, then single blocks to fill gaps. The file ends where a read
 * returns "end of file"; the size in the answer to OpenFileRO is not used (ArduPilot makes `@PARAM/param.pck` while it is
 * read).
 */
export class FtpFile {
  readonly #options: FtpFileOptions;
  #bytes: Buffer = Buffer.alloc(16 * 1024);
  #ranges: readonly Range[] = [];
  #session: number | null = null;
  #seq: number;
  /** Sequence number of our newest request. */
  #asked = 0;
  /** Bytes that were there then. */
  #had = -1;
  #state: 'open' | 'burst' | 'block' | 'over' = 'open';
  #activeAt = 0;
  #silent = 0;
  #resets = 0;
  /** A burst has run into the end of the file. */
  #sawEnd = false;

  constructor(options: FtpFileOptions) {
    this.#options = options;
    this.#seq = options.seq ?? 0;
  }

  /** The newest sequence number. */
  get seq(): number {
    return this.#seq;
  }

  /** Bytes that are there. */
  get received(): number {
    return this.#ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  start(): void {
    this.#ask();
  }

  onMessage({ seq, opcode, reqOpcode, session, offset, burstComplete, data }: FtpMessage): void {
    if (this.#state === 'over') return;
    const asked = this.#asked;
    this.#seq = seq; // the vehicle continues counting from here, through all answers of a burst
    if (opcode === NAK) {
      this.#refused(reqOpcode, data[0] ?? 0, seq === ((asked + 1) & 0xffff));
      return;
    }
    if (opcode !== ACK) return;
    if (reqOpcode === OPEN_FILE_RO && this.#state === 'open') {
      this.#session = session;
      this.#answered();
      this.#proceed();
    } else if ((reqOpcode === BURST_READ_FILE || reqOpcode === READ_FILE) && session === this.#session) {
      const had = this.received;
      if (!this.#take(offset, data)) return;
      if (this.received > had) this.#answered();
      // Without a new byte it is not asked again before its time.
      const isAnswered = reqOpcode === READ_FILE ? this.#state === 'block' : burstComplete;
      if (isAnswered && this.received > this.#had) this.#proceed();
    }
  }

  /** Called a few times a second. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    const now = clock.now();
    if (this.#state === 'over') return;
    if (!vehicle.alive) {
      this.#activeAt = now;
      return;
    }
    if (now - this.#activeAt < (this.#state === 'burst' ? BURST_QUIET_MS : REPLY_MS)) return;
    if (++this.#silent > MAX_SILENT) {
      this.#end(null);
      return;
    }
    if (this.#state === 'burst' && this.#ranges.length > 0) this.#state = 'block';
    this.#ask();
  }

  /** Ends without a result and without a call of `done`. */
  cancel(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#terminate();
  }

  /** @param newest whether it answers our newest request */
  #refused(request: number, error: number, newest: boolean): void {
    if (request === OPEN_FILE_RO && this.#state === 'open') {
      if (!NAK_STILL_OPEN.includes(error) || this.#resets >= MAX_RESETS) {
        this.#end(null, true);
        return;
      }
      this.#resets++;
      this.#request(RESET_SESSIONS, 0, 0, Buffer.alloc(0));
      this.#ask();
    } else if (request === BURST_READ_FILE && this.#state === 'burst') {
      this.#sawEnd = true;
      if (error === NAK_EOF) this.#proceed();
      else this.#end(null, true);
    } else if (request === READ_FILE && this.#state === 'block' && newest) {
      // Asked for the first byte that is missing: this is where the file ends.
      const file = error === NAK_EOF ? this.#bytes.subarray(0, this.#contiguous) : null;
      this.#end(file, file === null);
    }
  }

  /** Fills the gaps block by block, then goes on with a burst; after the last burst a single block finds the end. */
  #proceed(): void {
    this.#state = this.#ranges.length > 1 || this.#sawEnd ? 'block' : 'burst';
    this.#ask();
  }

  /** @returns false if the file is larger than allowed, which ends the transfer */
  #take(offset: number, data: Uint8Array): boolean {
    const end = offset + data.length;
    if (end > MAX_FILE_BYTES) {
      this.#end(null);
      return false;
    }
    if (data.length === 0) return true;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.min(MAX_FILE_BYTES, Math.max(end, this.#bytes.length * 2)));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes.set(data, offset);
    this.#ranges = withRange(this.#ranges, { start: offset, end });
    return true;
  }

  /** Number of bytes before the first gap. */
  get #contiguous(): number {
    const [first] = this.#ranges;
    return first?.start === 0 ? first.end : 0;
  }

  #answered(): void {
    this.#silent = 0;
    this.#activeAt = this.#options.clock.now();
  }

  #ask(): void {
    this.#activeAt = this.#options.clock.now();
    this.#had = this.received;
    const session = this.#session ?? 0;
    switch (this.#state) {
      case 'open':
        this.#request(OPEN_FILE_RO, 0, 0, Buffer.from(this.#options.path, 'latin1'));
        return;
      case 'burst':
        this.#request(BURST_READ_FILE, session, this.#contiguous, null);
        return;
      case 'block':
        this.#request(READ_FILE, session, this.#contiguous, null);
        return;
      case 'over':
    }
  }

  /** @param data null: a read of one block */
  #request(opcode: number, session: number, offset: number, data: Buffer | null): void {
    const { encoder, ask, vehicle } = this.#options;
    const { target } = vehicle;
    if (target === null) return;
    this.#seq = (this.#seq + 1) & 0xffff;
    this.#asked = this.#seq;
    ask(
      encoder.ftp(target, {
        seq: this.#seq,
        session,
        opcode,
        offset,
        size: data === null ? BLOCK : data.length,
        data: data ?? Buffer.alloc(0),
      }),
    );
  }

  #terminate(): void {
    if (this.#session !== null) this.#request(TERMINATE_SESSION, this.#session, 0, Buffer.alloc(0));
  }

  #end(file: Buffer | null, refused = false): void {
    this.#state = 'over';
    this.#terminate();
    this.#options.onEnd(file, refused);
  }
}

/** Adds a range to sorted, disjoint ranges. */
function withRange(ranges: readonly Range[], added: Range): readonly Range[] {
  let { start, end } = added;
  const apart = ranges.filter((range) => {
    if (range.end < start || range.start > end) return true;
    start = Math.min(start, range.start);
    end = Math.max(end, range.end);
    return false;
  });
  return [...apart, { start, end }].toSorted((a, b) => a.start - b.start);
}
