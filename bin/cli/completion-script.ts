/** The completion scripts that `svc completion` prints, from the descriptions of the commands. Pure. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** The flags that name the node; they may also stand before the words. Each takes a value. */
export const LEADING_FLAGS: readonly string[] = ['--host', '--via', '--key', '--demo'];
type Shell = (typeof SHELLS)[number];

interface CompletedFlag {
  /** With its dashes. */
  readonly name: string;
  readonly takesValue: boolean;
  /** Null where any value goes, and for a flag without one. */
  readonly choices: readonly string[] | null;
}

export interface CompletedCommand {
  /** Words after `svc`. */
  readonly words: readonly string[];
  readonly flags: readonly CompletedFlag[];
  /** The choices of each argument in turn; null where any value goes. */
  readonly args: readonly (readonly string[] | null)[];
  readonly summary: string;
}

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  if (shell === 'fish') return fish(commands);
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}${bash(commands)}`;
}

/** The words that may follow each prefix: '' -> `config logs …`, `config` -> `get set …`. */
function topics(commands: readonly CompletedCommand[]): ReadonlyMap<string, ReadonlySet<string>> {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands) {
    words.forEach((word, index) => {
      const before = words.slice(0, index).join(' ');
      next.set(before, (next.get(before) ?? new Set()).add(word));
    });
  }
  return next;
}

/**
 * One function for bash and, under its bashcompinit, zsh; so it uses no name that is special in zsh (`path`, `words`). `at` is
 * the command in the line, `nth` the argument at the cursor, `flag` the flag whose value is at the cursor. bash splits
 * `--level=warn` at the sign, into three words.
 */
function bash(commands: readonly CompletedCommand[]): string {
  const tree = topics(commands);
  const list = (words: Iterable<string>): string => `found='${[...words].toSorted().join(' ')}'`;
  const steps = [...tree].flatMap(([before, after]) =>
    [...after].map((word) => `'${before === '' ? word : `${before} ${word}`}'`),
  );
  const taking = [
    ...LEADING_FLAGS.map((name) => `' ${name}'`),
    ...commands.flatMap(({ words, flags }) =>
      flags.filter(({ takesValue }) => takesValue).map(({ name }) => `'${words.join(' ')} ${name}'`),
    ),
  ];
  const values = commands.flatMap(({ words, flags }) =>
    flags.flatMap(({ name, choices }) =>
      choices === null ? [] : [`      '${words.join(' ')} ${name}') ${list(choices)} ;;`],
    ),
  );
  const flagLists = commands.map(
    ({ words, flags }) => `      '${words.join(' ')}') ${list(flags.map(({ name }) => name))} ;;`,
  );
  const plain = [
    ...[...tree].map(([before, after]) => `      '${before} 0') ${list(after)} ;;`),
    ...commands.flatMap(({ words, args }) =>
      args.flatMap((choices, nth) =>
        choices === null ? [] : [`      '${words.join(' ')} ${nth}') ${list(choices)} ;;`],
      ),
    ),
  ];
  return `_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at='' flag='' found='' word
  local -i nth=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=''; continue; fi
    case "$at $word" in
      ${taking.join('|')}) flag=$word; continue ;;
    esac
    if [[ $word == -* ]]; then continue; fi
    case "\${at:+$at }$word" in
      ${steps.join('|')}) at="\${at:+$at }$word" ;;
      *) nth+=1 ;;
    esac
  done
  if [[ $cur == '=' ]]; then cur=''; fi
  if [[ -n $flag ]]; then
    case "$at $flag" in
${values.join('\n')}
    esac
  elif [[ $cur == -* ]]; then
    case $at in
${flagLists.join('\n')}
    esac
  else
    case "$at $nth" in
${plain.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$cur"))
}
complete -o default -F _svc svc
`;
}

function fish(commands: readonly CompletedCommand[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const tree = topics(commands);
  const lines = commands.flatMap(({ words, flags, args, summary }) => {
    const steps = words.map((word, index) => {
      const before = words.slice(0, index);
      const siblings = [...(tree.get(before.join(' ')) ?? [])].join(' ');
      const condition =
        before.length === 0
          ? '__fish_use_subcommand'
          : `__fish_seen_subcommand_from ${before.at(-1) ?? ''}; and not __fish_seen_subcommand_from ${siblings}`;
      const about = index === words.length - 1 ? ` -d ${quote(summary)}` : '';
      return `complete -c svc -f -n ${quote(condition)} -a ${word}${about}`;
    });
    const seen = quote(words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and '));
    const options = flags.map(({ name, takesValue, choices }) => {
      const value = choices === null ? (takesValue ? ' -r' : '') : ` -x -a ${quote(choices.join(' '))}`;
      return `complete -c svc -n ${seen} -l ${name.slice('--'.length)}${value}`;
    });
    const choices = args.flatMap((each) => each ?? []);
    return [
      ...steps,
      ...options,
      ...(choices.length === 0 ? [] : [`complete -c svc -f -n ${seen} -a ${quote(choices.join(' '))}`]),
    ];
  });
  return `${[...new Set(lines)].join('\n')}\n`;
}
