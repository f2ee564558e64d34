import { randomUUID } from 'node:crypto';
import { Denial } from './denial.ts';
import type { Principal } from './principal.ts';
import { asRecord } from './rows.ts';
import type { Tool, ToolAnswer } from './tools/tool.ts';

const MAX_BYTES = 32 * 1024;
/** For the members that a page has besides, and what is around the answer. */
const ROOM_BYTES = 2048;
/** Of the tree of an answer, where the list may be. */
const MAX_DEPTH = 4;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_OWN = 4;
const MAX_ALL = 32;
const KEPT_MS = 10 * 60_000;
const PREFIX = 'more-';

type Value = ToolAnswer['value'];

/** What was asked, and how more or less of it is. */
export interface AskedFor {
  readonly name: string;
  readonly next: (cursor: string) => string;
  readonly narrow: string;
}
type Path = readonly string[];

/** What of an answer has not been shown yet. */
interface Rest {
  readonly owner: string;
  /** Name of what was asked. */
  readonly asked: string;
  readonly value: Value;
  readonly path: Path;
  readonly shown: number;
  readonly at: number;
}

/**
 * Answers that a model can take in: what is longer comes in pages, of which the rest is kept for a while, so that a page costs the
 * node nothing and fits to the one before.
 */
export class Pages {
  readonly #now: () => number;
  readonly #bytes: (value: unknown) => number;
  /** By cursor, oldest first. */
  readonly #rests = new Map<string, Rest>();

  /** @param now steady, ms. @param bytes of a value as it is sent */
  constructor(now: () => number, bytes: (value: unknown) => number = bytesOfResult) {
    this.#now = now;
    this.#bytes = bytes;
  }

  /** Whether this cursor is one of ours; a tool may have its own. */
  static isOurs(cursor: unknown): cursor is string {
    return typeof cursor === 'string' && cursor.startsWith(PREFIX);
  }

  /** The answer, or as much of it as fits. @param reads a call that writes is not made again for its answer, so there is no cursor */
  first(answer: ToolAnswer, asked: AskedFor, principal: Principal, reads: boolean): ToolAnswer {
    const { value } = answer;
    const size = this.#bytes(value);
    if (size <= MAX_BYTES - ROOM_BYTES) return answer;
    const path = longest(value);
    const kept = reads && size <= MAX_KEPT_BYTES;
    const page = path === null ? null : this.#page(value, path, 0, asked, kept ? ownerOf(principal) : null);
    if (page !== null) return { ...answer, value: page };
    const scalars = Object.entries(value).filter(
      ([, member]) => typeof member !== 'object' && this.#bytes(member) < ROOM_BYTES,
    );
    const said = `The answer has ${kB(size)} kB, more than fits, and cannot be given in parts. ${asked.narrow}`;
    return {
      ...answer,
      value: { ...Object.fromEntries(scalars.slice(0, 16)), narrow: said },
      ...(reads ? { isError: true } : {}),
    };
  }

  /** @throws Denial invalid_arguments for a cursor that is of another call, or too old */
  next(cursor: string, asked: AskedFor, principal: Principal): ToolAnswer {
    const rest = this.#rests.get(cursor);
    const isGood =
      rest?.owner === ownerOf(principal) && rest.asked === asked.name && this.#now() - rest.at <= KEPT_MS;
    if (rest === undefined || !isGood)
      throw new Denial('invalid_arguments', 'This cursor is not known, or no longer. Call again without it.');
    const page = this.#page(rest.value, rest.path, rest.shown, asked, rest.owner);
    if (page === null)
      throw new Denial('not_supported', `The next entry is too long to be shown. ${asked.narrow}`);
    return { value: page };
  }

  /** @returns null where not even one more entry fits. @param owner null: the rest is not kept */
  #page(value: Value, path: Path, from: number, asked: AskedFor, owner: string | null): Value | null {
    const list = listAt(value, path);
    let size = this.#bytes(replaced(value, path, [])) + ROOM_BYTES;
    let to = from;
    for (; to < list.length; to++) {
      size += this.#bytes(list[to]) + 1;
      if (size > MAX_BYTES) break;
    }
    if (to === from) return null;
    const shown = replaced(value, path, list.slice(from, to));
    if (to === list.length) return shown;
    const cursor =
      owner === null
        ? null
        : this.#keep({ owner, asked: asked.name, value, path, shown: to, at: this.#now() });
    const goOn = cursor === null ? '' : ` ${asked.next(cursor)}`;
    const said = `${path.join('.')} has ${list.length} entries; these are ${from + 1} to ${to}.${goOn} ${asked.narrow}`;
    return { ...shown, narrow: said, ...(cursor === null ? {} : { next_cursor: cursor }) };
  }

  #keep(rest: Rest): string {
    const own = [...this.#rests].filter(([, { owner }]) => owner === rest.owner);
    const [oldest] = own.length >= MAX_OWN ? own : this.#rests.size >= MAX_ALL ? this.#rests : [];
    if (oldest !== undefined) this.#rests.delete(oldest[0]);
    for (const [cursor, { at }] of this.#rests) if (this.#now() - at > KEPT_MS) this.#rests.delete(cursor);
    const cursor = `${PREFIX}${randomUUID()}`;
    this.#rests.set(cursor, rest);
    return cursor;
  }
}

function ownerOf({ deviceId, id }: Principal): string {
  return `${deviceId ?? ''} ${id}`;
}

export function askedOf({ name, input }: Tool): AskedFor {
  const names = Object.keys(input.properties).filter((each) => each !== 'cursor');
  return {
    name,
    next: (cursor) => `Call again with cursor "${cursor}" for the next.`,
    narrow:
      names.length === 0
        ? 'Ask for a part of it with another tool.'
        : `To get less, narrow it with ${names.join(', ')}.`,
  };
}

/** Of the result of a tool: as structure, and as the short text beside it, which is at most as long. */
function bytesOfResult(value: unknown): number {
  const text = JSON.stringify(value) ?? '';
  return Buffer.byteLength(text) + bytesOfText(value);
}

/** Of a value that is sent as text alone. */
export function bytesOfText(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(JSON.stringify(value) ?? ''));
}

function kB(bytes: number): number {
  return Math.ceil(bytes / 1024);
}

/** Where the largest list of the answer is; null for none. */
function longest(value: Value): Path | null {
  const found: { path: Path | null; size: number } = { path: null, size: -1 };
  const look = (each: unknown, path: Path): void => {
    if (Array.isArray(each)) {
      const size = bytesOfText(each);
      if (size > found.size) Object.assign(found, { path, size });
    } else if (typeof each === 'object' && each !== null && path.length < MAX_DEPTH)
      for (const [name, member] of Object.entries(each)) look(member, [...path, name]);
  };
  look(value, []);
  return found.path;
}

function listAt(value: unknown, path: Path): readonly unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return Array.isArray(value) ? value : [];
  return listAt(asRecord(value)[name], rest);
}

function replaced(value: Value, [name, ...rest]: Path, list: readonly unknown[]): Value {
  if (name === undefined) return value;
  return { ...value, [name]: rest.length === 0 ? list : replaced(asRecord(value[name]), rest, list) };
}
