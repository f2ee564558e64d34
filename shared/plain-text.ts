/** Controls (the escape that a terminal obeys among them), invisible and private characters, halves of pairs. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** One line of foreign text, of a vehicle, a peer or a log, with nothing in it that a terminal would obey. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE, ' ');
}
