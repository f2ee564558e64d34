import { connect, type Socket } from 'node:net';
import { type Deferred, deferred } from '../async/deferred.ts';
import { within } from '../async/within.ts';
import { BusReader, BusWriter, type Value } from './bus-values.ts';

/** D-Bus, as far as asking another program needs it. What is asked on one connection belongs to that, and ends with it. */

const ANSWER_MS = 3000;
const MAX_MESSAGE = 1024 * 1024;
const [CALL, RETURN, ERROR] = [1, 2, 3];
/** Nobody is started by being asked. */
const NO_AUTO_START = 2;
const FIELDS = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  signature: 8,
};
const FIXED_BYTES = 16;

interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly values?: readonly Value[];
}

type Answer = number | string | null;
type PendingReply = Deferred<Answer>;

export class SystemBus {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, PendingReply>();
  readonly #begun = deferred();
  #input = Buffer.alloc(0);
  #serial = 0;
  #isBegun = false;

  private constructor(path: string, uid: number) {
    this.#begun.promise.catch(() => undefined); // whoever opens it hears it
    this.#socket = connect(path);
    this.#socket.on('connect', () => {
      const id = Buffer.from(String(uid)).toString('hex');
      this.#socket.write(`\0AUTH EXTERNAL ${id}\r\n`);
    });
    this.#socket.on('data', (bytes: Buffer) => {
      try {
        this.#read(bytes);
      } catch (error) {
        this.#socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error('D-Bus has closed the connection')));
  }

  /** @throws if there is no bus, or it does not answer in time */
  static async open(path: string, uid: number): Promise<SystemBus> {
    const bus = new SystemBus(path, uid);
    try {
      await within(bus.#begun.promise, ANSWER_MS, () => new Error('D-Bus does not answer'));
      const own = 'org.freedesktop.DBus';
      await bus.call({ destination: own, path: '/org/freedesktop/DBus', interface: own, member: 'Hello' });
    } catch (error) {
      bus.close();
      throw error;
    }
    return bus;
  }

  /** @returns the first value of the answer; null for none. @throws what the other program answers, or that it does not in time */
  async call(call: BusCall): Promise<Answer> {
    const serial = ++this.#serial;
    const waiting: PendingReply = deferred();
    this.#waiting.set(serial, waiting);
    this.#socket.write(messageOf(call, serial));
    try {
      return await within(waiting.promise, ANSWER_MS, () => new Error(`${call.member} has no answer`));
    } finally {
      this.#waiting.delete(serial);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #end(error: Error): void {
    this.#begun.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #read(bytes: Buffer): void {
    this.#input = Buffer.concat([this.#input, bytes]);
    if (this.#input.length > MAX_MESSAGE) throw new Error('a message of D-Bus is too long');
    if (!this.#isBegun) {
      const end = this.#input.indexOf('\r\n');
      if (end < 0) return;
      const line = this.#input.toString('latin1', 0, end);
      if (!line.startsWith('OK ')) throw new Error(`D-Bus refuses this user: ${line}`);
      this.#input = this.#input.subarray(end + 2);
      this.#isBegun = true;
      this.#socket.write('BEGIN\r\n');
      this.#begun.resolve();
    }
    for (;;) {
      const size = sizeOf(this.#input);
      if (size === null || this.#input.length < size) return;
      this.#take(this.#input.subarray(0, size));
      this.#input = this.#input.subarray(size);
    }
  }

  #take(message: Buffer): void {
    const type = message[1];
    if (type !== RETURN && type !== ERROR) return; // signals, which are asked for by nobody
    const reader = new BusReader(message, message[0] === LITTLE, FIXED_BYTES - 4);
    const fields = reader.fields();
    const waiting = this.#waiting.get(Number(fields.get(FIELDS.replySerial)));
    const signature = String(fields.get(FIELDS.signature) ?? '');
    const value = signature === '' ? null : reader.aligned(8).value(signature[0] ?? '');
    if (type === RETURN) waiting?.resolve(value);
    else waiting?.reject(new Error(`${String(fields.get(FIELDS.errorName))} ${String(value ?? '')}`.trim()));
  }
}

const LITTLE = 'l'.charCodeAt(0);

/** Of the message at the beginning, or null while its head is not whole. */
function sizeOf(input: Buffer): number | null {
  if (input.length < FIXED_BYTES) return null;
  const u32 = (at: number): number => (input[0] === LITTLE ? input.readUInt32LE(at) : input.readUInt32BE(at));
  const fields = u32(FIXED_BYTES - 4);
  const size = FIXED_BYTES + Math.ceil(fields / 8) * 8 + u32(4);
  if (size > MAX_MESSAGE) throw new Error('a message of D-Bus is too long');
  return size;
}

function messageOf(call: BusCall, serial: number): Buffer {
  const { destination, path, interface: face, member, signature = '', values = [] } = call;
  const body = new BusWriter();
  for (const [index, type] of typesOf(signature).entries()) body.value(type, values[index] ?? 0);
  const head = new BusWriter();
  for (const byte of [LITTLE, CALL, NO_AUTO_START, 1]) head.value('y', byte);
  head.value('u', body.bytes.length);
  head.value('u', serial);
  const fields: [number, string, Value][] = [
    [FIELDS.path, 'o', path],
    [FIELDS.interface, 's', face],
    [FIELDS.member, 's', member],
    [FIELDS.destination, 's', destination],
  ];
  if (signature !== '') fields.push([FIELDS.signature, 'g', signature]);
  head.fields(fields);
  return Buffer.concat([head.aligned(8).bytes, body.bytes]);
}

/** Each type of a list of them: an array is one with what it is of. */
function typesOf(signature: string): readonly string[] {
  return signature.match(/a*[a-z]/g) ?? [];
}
