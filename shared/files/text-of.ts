/** Bytes of a file are no text. */
export class NoText extends Error {
  constructor() {
    super('it is no text');
  }
}

/** No text has them: C0 without tab, line feed, form feed and carriage return. */
const CONTROL = /[^\P{Cc}\t\n\f\r\u007f-\u009f]/u;

/**
 * The text in a file that people have: UTF-8 or UTF-16 by its byte order mark (which is left out), UTF-16 without one, UTF-8, else
 * Windows-1252, which Latin-1 is a part of (https://encoding.spec.whatwg.org/#decode).
 * @throws NoText
 */
export function textOf(bytes: Uint8Array): string {
  const text = decoded(bytes);
  if (CONTROL.test(text)) throw new NoText();
  return text;
}

function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return decode('utf-16le', bytes);
  if (first === 0xfe && second === 0xff) return decode('utf-16be', bytes);
  // What people write begins with ASCII, of which UTF-16 has every other byte 0.
  if (first === 0 && second !== 0) return decode('utf-16be', bytes);
  if (first !== 0 && second === 0) return decode('utf-16le', bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return decode('windows-1252', bytes); // it is no UTF-8
    throw error;
  }
}

function decode(encoding: string, bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes);
}
