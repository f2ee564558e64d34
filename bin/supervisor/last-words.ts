/** A package that is not there, or lacks what is imported from it; never a path of our own. */
const WRONG_PACKAGE =
  /(?:Cannot find (?:package|module)|The requested module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)/;
/** Node ends a crash with its stack, an empty line and its own version. */
const NODE_VERSION = /^Node\.js v\d/;

/**
 * What a process left on stderr, with its reason at the end, where readers look for it.
 * @param lines its newest lines
 */
export function lastWords(lines: readonly string[]): string[] {
  const words = lines.filter((line) => !NODE_VERSION.test(line));
  if (words.length === lines.length) return words;
  const wrong = words.map((line) => WRONG_PACKAGE.exec(line)?.[1]).find((name) => name !== undefined);
  const error = words.find((line) => /Error(?::| \[)/.test(line));
  if (wrong !== undefined) words.push(`The package ${wrong} is missing, or of another version. Run: npm ci`);
  else if (error !== undefined) words.push(error);
  return words;
}
