/** A node of the syntax tree, as far as it is looked at; Babel's own types are not a dependency of this repository. */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Two words one after the other: a sentence for people, which tests hold by its code. */
const WORDS = /[A-Za-z]{2,}[,.:;]? [A-Za-z]{2,}/;

/**
 * A plugin of Stryker: what mutants are not made of. What a person reads in a message or in the log is no decision, and mutants
 * of it would drown those that are.
 */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'words',
    value: {
      /** @returns the reason, undefined for a node that counts */
      shouldIgnore: ({ node }: { readonly node: Node }): string | undefined => {
        if (isSentence(node)) return 'a sentence for people';
        return isLog(node) ? 'what is logged' : undefined;
      },
    },
  },
];

function isSentence({ type, value, quasis }: Node): boolean {
  if (type === 'StringLiteral') return WORDS.test(String(value));
  if (type !== 'TemplateLiteral' || !Array.isArray(quasis)) return false;
  return WORDS.test(
    (quasis as readonly { value: { raw: string } }[]).map(({ value: { raw } }) => raw).join('x'),
  );
}

/** `log.warn(…)` and `this.#options.log.warn(…)`, alone in a statement too. */
function isLog({ type, callee, expression }: Node): boolean {
  if (type === 'ExpressionStatement') return isNode(expression) && isLog(expression);
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
  const { object } = callee;
  if (!isNode(object)) return false;
  const named = object.type === 'MemberExpression' ? object['property'] : object;
  return isNode(named) && named['name'] === 'log';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
