/** Control characters (also terminal escapes), invisible and private characters, lone surrogates. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** One line of foreign text (from a vehicle, a peer or a log) without characters that control a terminal. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE, ' ');
}
