import secureJson from 'secure-json-parse';
import { isTooDeep, MAX_JSON_DEPTH, repeatedName } from './json-depth.ts';

// A byte order mark stays, and is no JSON (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON that no program writes by itself: somebody tries what becomes of it. */
export class HostileJson extends SyntaxError {}

/**
 * The value of a JSON text that somebody else has sent, whichever way it came.
 * @throws SyntaxError that says what is wrong; HostileJson for its depth, a name that stands twice, one that would change a prototype
 */
export function readForeignJson(raw: Buffer, maxBytes: number): unknown {
  if (raw.length > maxBytes) throw new SyntaxError(`it is larger than ${maxBytes} bytes`);
  const text = decoded(raw);
  if (text.startsWith('\uFEFF')) throw new SyntaxError('it begins with a byte order mark');
  if (isTooDeep(text)) throw new HostileJson(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  const value = parsed(text);
  const twice = repeatedName(text);
  if (twice !== null) throw new HostileJson(`${JSON.stringify(twice)} stands twice in one object`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return secureJson.parse(text);
  } catch (error) {
    JSON.parse(text); // says what is wrong, where it is no JSON
    throw new HostileJson('it has a name that would change a prototype', { cause: error });
  }
}

function decoded(raw: Buffer): string {
  try {
    return utf8.decode(raw);
  } catch {
    throw new SyntaxError('it is not UTF-8');
  }
}
