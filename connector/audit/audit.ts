import { readFileSync } from 'node:fs';
import { ChainedLog } from '../../shared/audit/chained-log.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { redactArguments, redactValue } from '../redaction.ts';

export type Decision = 'allowed' | 'confirmed' | 'denied' | 'operator_absent';

/** One call, list or refusal. */
export interface AuditEvent {
  readonly tokenId: string;
  readonly operatorId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** `*` if it is not about a single node. */
  readonly node: string;
  readonly decision: Decision;
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

export const AUDIT_FILES = 4;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_RESULT_CHARS = 200;
const MAX_ARGS_CHARS = 2000;

/** The key that signs the head of the chain; readable only by this user, like the file itself. */
export function keyFileOf(path: string): string {
  return `${path}.key`;
}

/** Every call in an append-only, hash-chained file; while it cannot be written, nothing is changed. */
export class ConnectorAudit {
  readonly path: string;
  readonly #log: Logger;
  readonly #file: ChainedLog;
  #problem: string | null = null;

  /** @param now wall clock, ms */
  constructor(path: string, log: Logger, now: () => number, maxBytes = MAX_BYTES) {
    this.path = path;
    this.#log = log;
    this.#file = new ChainedLog({
      path,
      keyFile: keyFileOf(path),
      maxBytes,
      files: AUDIT_FILES,
      modes: { directory: 0o700, file: 0o600 },
      now,
    });
  }

  start(): void {
    try {
      const broken = this.#file.start();
      if (broken !== null) this.#log.error(`audit: ${broken}`);
    } catch (error) {
      this.#fail(error);
    }
  }

  stop(): void {
    try {
      this.#file.stop();
    } catch (error) {
      this.#fail(error);
    }
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
        result: 'records can be written again',
        latencyMs: 0,
        mcpSession: '',
        plane: '',
      });
    }
    return this.#problem;
  }

  /** Never throws: the call has already been carried out. */
  write({ args, result, ...event }: AuditEvent): void {
    const text =
      typeof result === 'string' ? String(redactValue(result)) : (JSON.stringify(redactValue(result)) ?? '');
    const shown = redactArguments(args);
    const record = {
      ...event,
      args: JSON.stringify(shown).length > MAX_ARGS_CHARS ? '[too long]' : shown,
      result: text.slice(0, MAX_RESULT_CHARS),
    };
    try {
      this.#file.append(record);
      this.#problem = null;
    } catch (error) {
      this.#fail(error);
    }
    this.#log.info(`${event.tool}: ${event.decision}`, { node: event.node, principal: event.tokenId });
  }

  /** The newest events first, from the open file. */
  read(limit: number, wanted: (event: StoredEvent) => boolean): readonly StoredEvent[] {
    const found: StoredEvent[] = [];
    const lines = readText(this.path).trimEnd().split('\n');
    for (let index = lines.length - 1; index >= 0 && found.length < limit; index--) {
      const event = parse(lines[index] ?? '');
      if (event !== null && wanted(event)) found.push(event);
    }
    return found;
  }

  #fail(error: unknown): void {
    this.#problem = messageOf(error);
    this.#log.error(`audit: ${this.#problem}`);
  }
}

function parse(line: string): StoredEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as StoredEvent) : null;
  } catch {
    return null; // the last line, still being written
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
