import { setTimeout as wait } from 'node:timers/promises';
import type { ParamValues } from '../../../shared/flight/param-file.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

const POLL_MS = 250;
const CLEAR_LINE = '\r\u001b[K';
const MAX_WAIT_MS = 120_000;

/** A command about the vehicle's parameters. */
export abstract class ParamsCommand extends NodeCommand {
  /** All parameters, after the download has ended; shows its progress. */
  protected async allParams(): Promise<ParamValues> {
    const { stderr } = process;
    const end = performance.now() + MAX_WAIT_MS;
    let shown = false;
    try {
      for (;;) {
        const { params, priming, progress } = await this.call('GET /api/params');
        if (!priming && Object.keys(params).length > 0) return params;
        if (performance.now() > end || (!priming && progress.got === 0))
          this.error('The node has no parameters. Is a vehicle connected? See svc status.', {
            exit: EXIT.refused,
          });
        if (stderr.isTTY) {
          stderr.write(`${CLEAR_LINE}${bar(progress.got, progress.expected)}`);
          shown = true;
        }
        await wait(POLL_MS);
      }
    } finally {
      if (shown) stderr.write(CLEAR_LINE);
    }
  }
}

function bar(got: number, expected: number | null): string {
  if (expected === null) return `parameters ${got}`;
  const full = Math.min(30, Math.round((30 * got) / Math.max(1, expected)));
  return `parameters ${'#'.repeat(full)}${'.'.repeat(30 - full)} ${got} of ${expected}`;
}
