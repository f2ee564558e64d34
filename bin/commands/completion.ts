import { Args, type Command } from '@oclif/core';
import { COMMANDS, type CommandSpec } from '../../shared/flight/command-catalogue.ts';
import { type CompletedCommand, completionScript, SHELLS } from '../cli/completion-script.ts';
import { NodeCommand } from '../cli/node-command.ts';

class CompletionCommand extends NodeCommand {
  static override summary = 'Print the completion script of a shell.';
  static override description =
    'bash: source <(svc completion bash). zsh: source <(svc completion zsh). fish: svc completion fish | source.';
  static override examples = ['<%= config.bin %> completion bash > /etc/bash_completion.d/svc'];
  static override args = {
    shell: Args.string({ description: 'bash, zsh or fish', required: true, options: SHELLS }),
  };

  async run(): Promise<{ readonly script: string }> {
    const { args } = await this.parse(CompletionCommand);
    const shell = SHELLS.find((each) => each === args.shell) ?? 'bash';
    const script = completionScript(
      shell,
      this.config.commands.filter(({ hidden }) => !hidden).flatMap((each) => withFlight(describe(each))),
    );
    if (!this.jsonEnabled()) process.stdout.write(script);
    return { script };
  }
}

function describe({ id, flags, args, summary, description }: Command.Loadable): CompletedCommand {
  const own = Object.values(flags).filter(({ hidden }) => hidden !== true);
  return {
    words: id.split(':'),
    flags: [
      ...own.map((flag) => ({
        name: `--${flag.name}`,
        takesValue: flag.type === 'option',
        choices: flag.type === 'option' ? (flag.options ?? null) : null,
      })),
      { name: '--help', takesValue: false, choices: null },
    ],
    args: Object.values(args).map(({ options }) => options ?? null),
    summary: summary ?? description ?? '',
  };
}

/** To a shell the flight commands are commands below `svc cmd`. */
function withFlight(command: CompletedCommand): readonly CompletedCommand[] {
  if (command.words.join(' ') !== 'cmd') return [command];
  const flight = Object.entries<CommandSpec>(COMMANDS).map(([name, { description, args }]) => ({
    words: [...command.words, name],
    flags: command.flags,
    args: args.map(({ enum: choices }) => choices ?? null),
    summary: description,
  }));
  return [command, ...flight];
}

export default { completion: CompletionCommand };
