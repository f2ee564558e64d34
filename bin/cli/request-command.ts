import { type Command, Errors, Flags, type Interfaces } from '@oclif/core';
import type { Answer, Route } from '../../shared/routes/typed-row.ts';
import { callNode } from '../client/local-client.ts';
import { EXIT } from './exit-codes.ts';
import { type Asking, NodeCommand, shownWork } from './node-command.ts';

/** Commands that are one request, and what a person reads of its answer. */

/** What a person has typed. */
interface CommandInput<F, A> {
  readonly flags: F;
  readonly args: A;
}

interface Shown<R extends Route, F extends object, A extends object> {
  readonly summary: string;
  readonly description?: string;
  readonly usage?: string;
  /** Without `svc`. */
  readonly examples: readonly string[];
  readonly args?: Interfaces.ArgInput<A>;
  readonly flags?: Interfaces.FlagInput<F>;
  /** Work that may take long: its progress is shown, and it has as long as it takes. */
  readonly isLong?: boolean;
  /** What the command is besides. */
  readonly base?: typeof NodeCommand;
  /** For a person; with --json the answer is printed as it is. */
  readonly lines: (answer: Answer<R>, given: CommandInput<F, A>) => Iterable<string>;
  /** The same, on stderr: what is not of the answer itself. */
  readonly notes?: (answer: Answer<R>) => Iterable<string>;
}

/** What is asked besides the route. @throws CLIError of usageError */
interface Asks<F, A, T> {
  readonly ask: (given: CommandInput<F, A>) => T | Promise<T>;
}

type Request<R extends Route, F extends object, A extends object> = Shown<R, F, A> &
  (Asking<R> extends readonly [unknown] ? Asks<F, A, Asking<R>[0]> : Partial<Asks<F, A, Asking<R>[0]>>);

/** The command for a row, named by its route. */
export function requestCommand<
  R extends Route,
  F extends Record<string, unknown>,
  A extends Record<string, unknown>,
>(route: R, request: Request<R, F, A>): Command.Class {
  const { summary, description, usage, examples, base = NodeCommand } = request;
  const input: Pick<Shown<R, F, A>, 'args' | 'flags'> = request;
  return class RequestCommand extends base {
    static override summary = summary;
    static override description = description;
    static override usage = usage;
    static override examples = examples.map((example) => `<%= config.bin %> ${example}`);
    static override args = input.args ?? {};
    static override flags = input.flags ?? {};

    async run(): Promise<Answer<R>> {
      const { baseFlags } = NodeCommand;
      const given = await this.parse<F, object, A>({ ...input, baseFlags, enableJsonFlag: true });
      const ask = await request.ask?.(given);
      const answer = await (request.isLong === true
        ? shownWork(this.address, route, ask)
        : callNode(this.address, route, ask));
      for (const line of request.lines(answer, given)) this.log(line);
      for (const note of request.notes?.(answer) ?? []) this.logToStderr(note);
      return answer;
    }
  };
}

/** A flag without a value. oclif's own loses its type where those of a command are inferred. */
export function switchFlag(
  summary: string,
  more: { readonly exclusive?: string[] } = {},
): Interfaces.BooleanFlag<boolean> {
  return Flags.boolean({ summary, default: false, ...more });
}

/** Of what was typed in a way that cannot be asked. */
export function usageError(message: string): Errors.CLIError {
  return new Errors.CLIError(message, { exit: EXIT.usage });
}
