import { readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ageOf, type BootTime } from '../boot-clock.ts';
import { codeOf } from '../errors.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { personCode } from '../person-code.ts';
import { validatorOf } from '../schemas/validator.ts';
import { CODE_PATTERN, type OperatorFiles, readOwnJson } from './operator-files.ts';
import { isSignedByOperator, signAsOperator } from './operator-key.ts';

/**
 * A confirmation of one call by a person (docs/contract/connector.md): the connector files the call under a code, the person looks at
 * it with `svc operator confirm <code>` and signs it with their Ed25519 key, the client repeats the call with the code. The
 * signature covers tool, node, the hash of the arguments and the code; it is valid for 60 s and for one call.
 */

export interface PendingCall {
  readonly code: string;
  readonly tool: string;
  readonly node: string;
  readonly argsHash: string;
  /** For the person to read; secrets are masked. */
  readonly args: unknown;
  /** What the call would do, in words, where the arguments alone do not show it. */
  readonly summary?: string;
  /** The node is one of a fleet, so each request to it is signed too, while `svc operator confirm` runs. */
  readonly fleet?: boolean;
  /** To a node of a fleet: the requests that the call consists of, in their order, where they are known; they are signed unasked. */
  readonly requests?: readonly SignedRequest[];
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** What of a call its signature does not cover by itself: it shows what the hash stands for. */
type Shown = 'args' | 'summary' | 'fleet' | 'requests';

const text = { type: 'string' } as const;
const isCall = validatorOf({
  type: 'object',
  required: ['code', 'tool', 'node', 'argsHash', 'args'],
  properties: {
    code: text,
    tool: text,
    node: text,
    argsHash: text,
    args: {},
    summary: text,
    fleet: { type: 'boolean' },
    requests: {
      type: 'array',
      items: {
        type: 'object',
        required: ['method', 'path', 'body'],
        properties: { method: text, path: text, body: {} },
      },
    },
  },
});

const PENDING_S = 300;
const SIGNED_S = 60;
// More than a person could look at; the oldest are removed.
const MAX_PENDING = 32;

function pathOf(directory: string, code: string): string {
  if (!CODE_PATTERN.test(code)) throw new Error('a code is eight letters and digits');
  return join(directory, `${code}.json`);
}

function payload({ code, tool, node, argsHash }: Omit<PendingCall, Shown>, at: BootTime): Buffer {
  return Buffer.from(JSON.stringify(['svc/confirm/v1', code, tool, node, argsHash, at.boot_id, at.uptime]));
}

/** Stores a call for a person to check. @returns its code */
export async function fileCall(
  files: OperatorFiles,
  call: Omit<PendingCall, 'code'>,
  now: BootTime,
): Promise<string> {
  const code = personCode(8);
  await mkdir(files.pending, { recursive: true, mode: 0o700 });
  sweep(files, now);
  await writeAtomic(pathOf(files.pending, code), JSON.stringify({ ...call, code, at: now }), 0o600);
  return code;
}

/** The call that waits under the code; null if there is none, it has expired, or the file has no call of this code. @throws Error for an invalid code or file */
export function pendingCall(files: OperatorFiles, code: string, now: BootTime): PendingCall | null {
  const found = readOwnJson(pathOf(files.pending, code));
  const age = found === null ? null : ageOf(found['at'], now);
  if (found === null || age === null || age > PENDING_S) return null;
  if (found['code'] !== code || !isCall.fits(found)) return null; // what a person is shown has to be what they sign
  return found;
}

/** Signs the call that waits under the code. @throws Error without a key */
export async function signCall(files: OperatorFiles, call: PendingCall, now: BootTime): Promise<void> {
  const signature = signAsOperator(files, payload(call, now));
  await mkdir(files.signed, { recursive: true, mode: 0o700 });
  await writeAtomic(pathOf(files.signed, call.code), JSON.stringify({ ...call, at: now, signature }), 0o600);
}

/**
 * Whether a person has signed exactly this call less than 60 s ago. Does not use up the signature. @throws Error for files that
 * another user may have written
 */
export function isSigned(files: OperatorFiles, call: Omit<PendingCall, Shown>, now: BootTime): boolean {
  const found = readOwnJson(pathOf(files.signed, call.code));
  if (found === null) return false;
  const { at, signature, tool, node, argsHash, code } = found;
  const age = ageOf(at, now);
  if (age === null || age > SIGNED_S || typeof signature !== 'string') return false;
  if (tool !== call.tool || node !== call.node || argsHash !== call.argsHash || code !== call.code)
    return false;
  return isSignedByOperator(files, payload(call, at as BootTime), signature);
}

/**
 * Takes the signature for the call that is about to be sent; nobody else can use it then, even if this process dies.
 * @returns false if another call took it first
 */
export function takeSignature(files: OperatorFiles, code: string): boolean {
  return moveIfThere(pathOf(files.signed, code), takenPath(files, code));
}

/** The call was not carried out: the signature may be used again, until it expires. */
export function giveSignatureBack(files: OperatorFiles, code: string): void {
  moveIfThere(takenPath(files, code), pathOf(files.signed, code));
}

/** The call was sent: the signature is used up. */
export function spendSignature(files: OperatorFiles, code: string): void {
  rmSync(takenPath(files, code), { force: true });
  rmSync(pathOf(files.pending, code), { force: true });
}

function takenPath(files: OperatorFiles, code: string): string {
  return `${pathOf(files.signed, code)}.taken`;
}

/** @returns whether it was there */
function moveIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Removes calls that were not signed in time. */
function sweep(files: OperatorFiles, now: BootTime): void {
  const codes = readdirSync(files.pending)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
  const live = codes.filter((code) => {
    if (CODE_PATTERN.test(code) && pendingCall(files, code, now) !== null) return true;
    rmSync(join(files.pending, `${code}.json`), { force: true });
    return false;
  });
  for (const code of live.slice(0, Math.max(0, live.length - MAX_PENDING + 1)))
    rmSync(join(files.pending, `${code}.json`), { force: true });
}
