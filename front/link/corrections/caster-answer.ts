import type { Mountpoint } from '../../../shared/rpc/link-answers.ts';
import { Chunked } from './chunked.ts';
import { SourceTable } from './source-table.ts';

/** A longer answer before the stream is none of a caster. */
const MAX_HEAD_BYTES = 8192;
/** What an answer begins with: NTRIP 1, HTTP, the table of a caster, a refusal of NTRIP 1. */
const BEGINNINGS = ['ICY ', 'HTTP', 'SOUR', 'ERRO'] as const;
const BEGINNING_BYTES = 4;
const EMPTY = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

interface AnswerEvents {
  onAccepted(): void;
  onData(bytes: Buffer): void;
  onRefused(refusal: Refusal): void;
}

/** Why there is no stream. */
export interface Refusal {
  /** A sentence: what is wrong, and what helps. */
  readonly problem: string;
  /** `version`: the caster may only not know this version of NTRIP. */
  readonly about: 'version' | 'mountpoint' | 'other';
  /** The caster's table, if that was the answer. */
  readonly mountpoints?: readonly Mountpoint[];
}

/**
 * What a caster answers, of NTRIP 1 or 2: the head, then the stream. What is no stream of corrections is refused here, by its head. The
 * caster's own words are not repeated: they may be anything.
 */
export class CasterAnswer {
  readonly #mountpoint: string;
  readonly #events: AnswerEvents;
  #head: Buffer | null = EMPTY;
  #chunked: Chunked | null = null;
  /** The answer is one. */
  #table: SourceTable | null = null;
  #hasData = false;
  #isOver = false;

  constructor(mountpoint: string, events: AnswerEvents) {
    this.#mountpoint = mountpoint;
    this.#events = events;
  }

  /** Nothing more comes. A table that is not whole has something to choose from, too. @param problem why */
  end(problem: string): void {
    if (this.#table !== null) this.#noMountpoint(this.#table);
    else this.#refuse(problem, this.#head === null ? 'other' : 'version');
  }

  push(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#head !== null) this.#readHead(Buffer.concat([this.#head, bytes]));
    else if (this.#chunked === null) this.#take(bytes);
    else this.#unchunk(this.#chunked, bytes);
  }

  #take(bytes: Buffer): void {
    this.#hasData = true;
    if (this.#table === null) this.#events.onData(bytes);
    else if (this.#table.push(bytes)) this.#noMountpoint(this.#table);
  }

  #unchunk(chunked: Chunked, bytes: Buffer): void {
    const next = chunked.push(bytes);
    if (next === 'end' && this.#table !== null) this.#noMountpoint(this.#table);
    if (next === 'end') this.#refuse('The caster has ended the stream.');
    if (next === 'wrong')
      this.#refuse(
        'The caster does not send what its own answer announced.',
        this.#hasData ? 'other' : 'version', // a caster that sends a bare stream may say so in version 1
      );
  }

  #readHead(bytes: Buffer): void {
    const head = bytes.subarray(bytes.findIndex((byte) => byte !== CR && byte !== LF));
    this.#head = head;
    const beginning = head.toString('latin1', 0, BEGINNING_BYTES).toUpperCase();
    if (!BEGINNINGS.some((each) => each.startsWith(beginning)))
      return this.#refuse('What answers there is no NTRIP caster.', 'version');
    const line = head.toString('latin1', 0, head.indexOf('\n') + 1).trim();
    const isHttp = beginning === 'HTTP';
    const isInterim = /^HTTP\/1\.[01] 1\d\d\b/i.test(line); // the answer comes behind it (RFC 9110, 15.2)
    if (isHttp && line !== '' && !isInterim && !this.#isGood(line)) return;
    const end = isHttp ? endOfHead(head) : head.indexOf('\n') + 1;
    if (end === 0) {
      if (head.length > MAX_HEAD_BYTES) this.#refuse('What answers there is no NTRIP caster.', 'version');
      return;
    }
    if (isInterim) this.#readHead(head.subarray(end));
    else if (isHttp) this.#http(head.toString('latin1', 0, end), head.subarray(end));
    else this.#plain(line, head.subarray(end));
  }

  /** NTRIP 1. Some casters send header lines after the first one: there is no frame in them. */
  #plain(line: string, rest: Buffer): void {
    if (/^ICY 200\b/i.test(line)) return this.#begin(rest, false);
    if (line.startsWith('SOURCETABLE')) return this.#begin(rest, false, new SourceTable());
    if (/password|authoriz|\b401\b/i.test(line)) return this.#noLogin();
    if (/mount/i.test(line)) return this.#noMountpoint();
    this.#refuse('The caster refuses the stream.', 'version');
  }

  /** By the status alone: RTKLIB ends a refusal without the empty line that ends a head. */
  #isGood(line: string): boolean {
    const status = Number(/^HTTP\/1\.[01] (\d{3})\b/i.exec(line)?.[1] ?? 0);
    if (status === 200) return true;
    if (status === 401 || status === 403) this.#noLogin();
    else if (status === 404) this.#noMountpoint();
    else if (status >= 300 && status < 400)
      this.#refuse(
        'The caster refers to another address, which is not followed, because the login would go there. Give the address of the caster itself.',
      );
    else this.#refuse(`The caster refuses the stream${status === 0 ? '' : ` (${status})`}.`, 'version');
    return false;
  }

  #http(text: string, rest: Buffer): void {
    const header = (name: string): string =>
      new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*\\r?$`, 'im').exec(text)?.[1]?.toLowerCase() ?? '';
    const type = header('content-type');
    const table = type.startsWith('gnss/sourcetable') ? new SourceTable() : null;
    if (type.startsWith('text/'))
      return this.#refuse('What answers there is a web server, and no caster.', 'version');
    const encoding = header('content-encoding');
    if (encoding !== '' && encoding !== 'identity')
      return this.#refuse('The caster compresses the stream, which nobody asked it for.', 'version');
    const transfer = header('transfer-encoding');
    if (transfer !== '' && transfer !== 'identity' && transfer !== 'chunked')
      return this.#refuse('The caster sends the stream in a way that is not known.', 'version');
    this.#begin(rest, transfer === 'chunked', table);
  }

  #begin(rest: Buffer, isChunked: boolean, table: SourceTable | null = null): void {
    this.#head = null;
    this.#table = table;
    if (isChunked) this.#chunked = new Chunked((bytes) => this.#take(bytes));
    if (table === null) this.#events.onAccepted();
    if (rest.length > 0) this.push(rest);
  }

  #noLogin(): void {
    this.#refuse('The caster refuses the login. Check the user name and the password.');
  }

  #noMountpoint(table?: SourceTable): void {
    const which = this.#mountpoint === '' ? 'No mountpoint is set' : `The caster has no ${this.#mountpoint}`;
    this.#refuse(`${which}. Choose one of its mountpoints.`, 'mountpoint', table);
  }

  #refuse(problem: string, about: Refusal['about'] = 'other', table?: SourceTable): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#head = EMPTY;
    this.#events.onRefused({ problem, about, ...(table === undefined ? {} : { mountpoints: table.rows() }) });
  }
}

/** @returns the first byte after the empty line; 0: it has not come */
function endOfHead(head: Buffer): number {
  const end = /\r?\n\r?\n/.exec(head.toString('latin1'));
  return end === null ? 0 : end.index + end[0].length;
}
