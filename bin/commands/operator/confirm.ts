import { createInterface } from 'node:readline/promises';
import { Args } from '@oclif/core';
import { bootTime } from '../../../shared/operator/boot-clock.ts';
import { operatorFiles } from '../../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../../shared/operator/operator-key.ts';
import { CODE_PATTERN, pendingCall, signCall } from '../../../shared/operator/signed-confirm.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

/** Of arguments that are summed up in words. */
const SUMMED_UP_LINES = 24;

export default class OperatorConfirmCommand extends NodeCommand {
  static override summary = 'Look at one call of an AI client, and sign it to allow it.';
  static override description =
    'The client shows the code. The signature is valid for 60 s and for this one call with these arguments on this node.';
  static override examples = ['<%= config.bin %> operator confirm 7KQ2MZPA'];
  static override args = { code: Args.string({ description: 'as the client shows it', required: true }) };

  async run(): Promise<{ readonly signed: boolean; readonly tool: string; readonly node: string }> {
    const { args } = await this.parse(OperatorConfirmCommand);
    const code = args.code.toUpperCase();
    const files = operatorFiles(process.env);
    const call = CODE_PATTERN.test(code) ? pendingCall(files, code, bootTime()) : null;
    if (call === null)
      this.error(`No call waits under ${code}, or it has expired. Let the client ask again.`, {
        exit: EXIT.refused,
      });
    this.log(`tool       ${call.tool}`);
    this.log(`node       ${call.node}`);
    if (call.summary !== undefined) this.log(`what       ${call.summary}`);
    // A mission of 700 items would push its own summary off the screen.
    const lines = JSON.stringify(call.args, null, 2).split('\n');
    const shown = call.summary === undefined ? lines : lines.slice(0, SUMMED_UP_LINES);
    this.log(`arguments  ${shown.join('\n           ')}`);
    if (shown.length < lines.length) this.log(`           … and ${lines.length - shown.length} lines more`);
    if (!(await this.ask())) {
      this.log('Not signed.');
      process.exitCode = EXIT.refused;
      return { signed: false, tool: call.tool, node: call.node };
    }
    if (await ensureOperatorKey(files)) this.log(`A key was made: ${files.key}`);
    await signCall(files, call, bootTime());
    this.log('Signed; the client has 60 s to repeat the call.');
    return { signed: true, tool: call.tool, node: call.node };
  }

  private async ask(): Promise<boolean> {
    if (!process.stdin.isTTY) this.error('A person must sign this, in a terminal.', { exit: EXIT.usage });
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(?:es)?$/i.test(await prompt.question('Shall this happen? [y/N] '));
    } finally {
      prompt.close();
    }
  }
}
