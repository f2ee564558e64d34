import { Args, type Command } from '@oclif/core';
import { NodeCommand } from '../node-command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

interface Word {
  /** Words after `svc`. */
  readonly words: readonly string[];
  readonly flags: readonly string[];
  readonly summary: string;
}

export default class CompletionCommand extends NodeCommand {
  static override summary = 'Print the completion script of a shell.';
  static override description =
    'bash: source <(svc completion bash). zsh: source <(svc completion zsh). fish: svc completion fish | source.';
  static override examples = ['<%= config.bin %> completion bash > /etc/bash_completion.d/svc'];
  static override args = {
    shell: Args.string({ description: 'bash, zsh or fish', required: true, options: SHELLS }),
  };

  async run(): Promise<{ readonly script: string }> {
    const { args } = await this.parse(CompletionCommand);
    const words = this.config.commands.filter(({ hidden }) => !hidden).map(describe);
    const script = args.shell === 'fish' ? fish(words) : bash(words, args.shell === 'zsh');
    if (!this.jsonEnabled()) process.stdout.write(script);
    return { script };
  }
}

function describe({ id, flags, summary, description }: Command.Loadable): Word {
  const names = Object.values(flags).flatMap(({ name, hidden }) => (hidden === true ? [] : [`--${name}`]));
  return { words: id.split(':'), flags: [...names, '--help'], summary: summary ?? description ?? '' };
}

/** What may follow each beginning: `''` -> `config logs …`, `config` -> `get set …`, `config get` -> its flags. */
function tree(words: readonly Word[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, Set<string>>();
  const add = (before: string, word: string): void => {
    next.set(before, (next.get(before) ?? new Set()).add(word));
  };
  for (const { words: path, flags } of words) {
    path.forEach((word, index) => add(path.slice(0, index).join(' '), word));
    for (const flag of flags) add(path.join(' '), flag);
  }
  return new Map([...next].map(([before, after]) => [before, [...after].toSorted()]));
}

function bash(words: readonly Word[], zsh: boolean): string {
  const cases = [...tree(words)]
    .filter(([before]) => before !== '')
    .map(([before, after]) => `    "${before}") words="${after.join(' ')}" ;;`);
  return `${zsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case $path in
    '') words="${(tree(words).get('') ?? []).join(' ')}" ;;
${cases.join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _svc svc
`;
}

function fish(words: readonly Word[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  const lines = words.flatMap(({ words: path, flags, summary }) => {
    const steps = path.map((word, index) => {
      const before = path.slice(0, index);
      const condition =
        before.length === 0
          ? '__fish_use_subcommand'
          : `__fish_seen_subcommand_from ${before.at(-1) ?? ''}; and not __fish_seen_subcommand_from ${word}`;
      const about = index === path.length - 1 ? ` -d ${quote(summary)}` : '';
      return `complete -c svc -f -n ${quote(condition)} -a ${word}${about}`;
    });
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return [...steps, ...flags.map((flag) => `complete -c svc -n ${quote(seen)} -l ${flag.slice(2)}`)];
  });
  return `${[...new Set(lines)].join('\n')}\n`;
}
