import type { JsonObject } from '../shared/member.ts';
import { redact as redactText } from '../shared/process/redact.ts';

/** Removes secrets from answers and records: by the name of a member, and by the pattern of a text. */

const NAMES =
  /pass(?:word|wd|phrase)|secret|api_?key|token|psk|private_?key|pairing_?key|credential|authorization|bearer/i;
/** Members whose name looks like a secret but is not. */
const HARMLESS = /^(?:token_id|tokenId|token_accept_enabled|pairing_code_required|code_required)$/;
/** The pairing code of these answers and arguments; elsewhere `code` is an error's. */
const PAIRING_CODE = /^[A-HJKMNP-Z2-9]{6}$/;
const MASK = '[REDACTED]';

/** @returns a copy; booleans and nulls are kept, so that one can see whether a value is set */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecret(name, member) ? mask(member) : redactValue(member),
    ]),
  );
}

/** Arguments of a call: a config write names its key beside the value. */
export function redactArguments(args: JsonObject): unknown {
  const { key, value, confirm_id: code } = args;
  const named = typeof key === 'string' && NAMES.test(key) && value !== undefined;
  return redactValue({
    ...args,
    ...(named ? { value: MASK } : {}),
    ...(code === undefined ? {} : { confirm_id: MASK }),
  });
}

/** Under which a person is asked about one call: for the audit, which others than the asked one read. */
const CONFIRM_CODE = /(\bconfirm(?:_id)?["\\: ]+)[A-HJKMNP-Z2-9]{8}\b/g;

/** @returns the text without the codes that a refusal says */
export function withoutCodes(text: string): string {
  return text.replaceAll(CONFIRM_CODE, `$1${MASK}`);
}

function isSecret(name: string, member: unknown): boolean {
  if (HARMLESS.test(name)) return false;
  if (name === 'code') return typeof member === 'string' && PAIRING_CODE.test(member);
  return NAMES.test(name);
}

function mask(value: unknown): unknown {
  if (value === null || value === '' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mask(member)]));
  return MASK;
}
