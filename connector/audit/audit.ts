import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChainedLog } from '../../shared/audit/chained-log.ts';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { maskSecrets } from '../../shared/mask.ts';
import { type JsonObject, parseJson } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import { maskArguments, withoutCodes } from '../mask-arguments.ts';
import { AUDIT_FILES, keyFileOf, placesOf } from './places.ts';

export type Decision = 'allowed' | 'confirmed' | 'denied' | 'operator_absent';

/**
 * The client's user, a person's signature or presence, also that with which the flight began that this call
 * ends (`way_down`); or nobody, since it was a simulator.
 */
export type ConfirmedBy = 'elicitation' | 'signature' | 'presence' | 'way_down' | 'simulator';

/** One call, list or refusal. */
export interface AuditEvent {
  readonly tokenId: string;
  readonly operatorId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** `*` if it is not about a single node. */
  readonly node: string;
  readonly decision: Decision;
  /** What confirmed it; null where nothing did. */
  readonly confirmedBy: ConfirmedBy | null;
  /** A call that writes has two events: before it is sent, and afterwards with its outcome. */
  readonly phase?: 'announced' | 'settled';
  /** Number of the event that announced it. */
  readonly of?: number;
  /** The outcome: the beginning of the answer, or `reason: sentence`. */
  readonly result: unknown;
  readonly latencyMs: number;
  readonly mcpSession: string;
  /** How the caller came in: stdio, http, unix. */
  readonly plane: string;
}

export interface StoredEvent extends Omit<AuditEvent, 'result' | 'args'> {
  readonly seq: number;
  readonly time: string;
  readonly args: unknown;
  readonly result: string;
}

const MODES = { directory: 0o700, file: 0o600 } as const;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_RESULT_CHARS = 200;
const MAX_ARGS_CHARS = 2000;

/**
 * Every call in an append-only, hash-chained file; while it cannot be written, nothing is changed. Each connector of a user has
 * a file of its own: the first free one.
 */
export class ConnectorAudit {
  readonly #path: string;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #maxBytes: number;
  #file: ChainedLog | null = null;
  #release: () => void = () => undefined;
  #problem: string | null = null;

  /**
   * @param path the first of the files
   * @param now wall clock, ms
   */
  constructor(path: string, log: Logger, now: () => number, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.#log = log;
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  start(): void {
    try {
      this.#open();
    } catch (error) {
      this.#fail(error);
    }
  }

  stop(): void {
    try {
      this.#file?.stop();
      this.#release();
    } catch (error) {
      this.#fail(error);
    }
    this.#file = null;
  }

  /** The open file. @throws Error if every file is in use; the file system's error */
  #open(): ChainedLog {
    if (this.#file !== null) return this.#file;
    mkdirSync(dirname(this.#path), { recursive: true, mode: MODES.directory });
    const place = this.#freePlace();
    const file = new ChainedLog({
      path: place,
      keyFile: keyFileOf(place),
      maxBytes: this.#maxBytes,
      files: AUDIT_FILES,
      modes: MODES,
      now: this.#now,
      durable: true,
    });
    try {
      const broken = file.start();
      if (broken !== null) this.#log.error(`audit: ${broken}`);
    } catch (error) {
      this.#release();
      throw error;
    }
    this.#file = file;
    return file;
  }

  #freePlace(): string {
    for (const place of placesOf(this.#path)) {
      const release = takePidLock(`${place}.lock`);
      if (release === null) continue;
      this.#release = release;
      return place;
    }
    throw new Error(`every audit file beside ${this.#path} is in use; stop a connector, or set --audit-path`);
  }

  /** Why records cannot be written; null while they can. After a failure it tries to write one. */
  problem(): string | null {
    if (this.#problem !== null) {
      // Only writing a record shows that it works again.
      this.write({
        tokenId: 'svc-mcp',
        operatorId: 'svc-mcp',
        tool: 'audit',
        args: {},
        node: '*',
        decision: 'allowed',
        confirmedBy: null,
        result: 'records can be written again',
        latencyMs: 0,
        mcpSession: '',
        plane: '',
      });
    }
    return this.#problem;
  }

  /** The intent of a call, before it is sent. @returns its number. @throws Denial audit_unavailable */
  announce(event: AuditEvent): number {
    const seq = this.#append({ ...event, phase: 'announced' });
    if (seq === null) throw new Denial('audit_unavailable', undefined, { problem: this.#problem });
    return seq;
  }

  /** Never throws: the call is over. */
  write(event: AuditEvent): void {
    this.#append(event);
    this.#log.info(`${event.tool}: ${event.decision}`, { node: event.node, principal: event.tokenId });
  }

  /** @returns the event's number; null if it could not be written */
  #append({ args, result, ...event }: AuditEvent): number | null {
    const text =
      typeof result === 'string' ? String(maskSecrets(result)) : (JSON.stringify(maskSecrets(result)) ?? '');
    const shown = maskArguments(args);
    const record = {
      ...event,
      args: JSON.stringify(shown).length > MAX_ARGS_CHARS ? '[too long]' : shown,
      result: withoutCodes(text).slice(0, MAX_RESULT_CHARS),
    };
    try {
      const file = this.#open();
      file.append(record);
      this.#problem = null;
      return file.seq;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  /** The newest events first, of all connectors with this path, from the open files. */
  read(limit: number, wanted: (event: StoredEvent) => boolean): readonly StoredEvent[] {
    return placesOf(this.#path)
      .flatMap((place) => newest(place, limit, wanted))
      .toSorted((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : b.seq - a.seq))
      .slice(0, limit);
  }

  #fail(error: unknown): void {
    this.#problem = messageOf(error);
    this.#log.error(`audit: ${this.#problem}`);
  }
}

function newest(
  path: string,
  limit: number,
  wanted: (event: StoredEvent) => boolean,
): readonly StoredEvent[] {
  const found: StoredEvent[] = [];
  const lines = readText(path).trimEnd().split('\n');
  for (let index = lines.length - 1; index >= 0 && found.length < limit; index--) {
    const event = parse(lines[index] ?? '');
    if (event !== null && wanted(event)) found.push(event);
  }
  return found;
}

function parse(line: string): StoredEvent | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null ? (value as StoredEvent) : null;
  } catch {
    return null; // the last line, still being written
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
