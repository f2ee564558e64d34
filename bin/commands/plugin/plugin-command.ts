import { Command } from '@oclif/core';
import { messageOf } from '../../../shared/errors.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { failureOf, successOf } from './plugin-exit.ts';

/** Who vouches for an archive, for a line. */
export function signature(signer: string | null): string {
  return signer === null ? 'not signed' : `signed by ${signer}`;
}

/** A tool for the authors of extensions: it needs no node. */
export abstract class PluginTool extends Command {
  static override enableJsonFlag = true;

  override async init(): Promise<void> {
    await super.init();
    // oclif would take an argument that is not there from stdin.
    for (const arg of Object.values(this.ctor.args)) arg.ignoreStdin = true;
  }

  /** One line. The text may come from an archive: it must neither control the terminal nor forge a line. */
  override log(message = '', ...args: string[]): void {
    super.log(plainText(message), ...args.map(plainText));
  }

  override warn(input: Error | string): Error | string {
    return super.warn(plainText(messageOf(input)));
  }

  protected override toSuccessJson(result: unknown): unknown {
    return successOf(result);
  }

  protected override toErrorJson(error: unknown): unknown {
    return failureOf(error);
  }

  protected override async catch(error: Error): Promise<unknown> {
    if (error instanceof PluginRefusal) {
      const failure = failureOf(error);
      if (this.jsonEnabled()) {
        this.logJson(failure);
        this.exit(failure.code);
      }
      this.error([error.message, ...listOf(error.extras['violations'])].map(plainText).join('\n'), {
        exit: failure.code,
        ...(failure.hint !== undefined && { suggestions: [failure.hint] }),
      });
    }
    return super.catch(error);
  }
}

function listOf(violations: unknown): string[] {
  if (!Array.isArray(violations)) return [];
  return violations.map(
    ({ path, message }: { readonly path: string; readonly message: string }) =>
      `  ${faultOf({ path, message }, '(the whole)')}`,
  );
}
