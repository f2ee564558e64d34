import { constants, createReadStream } from 'node:fs';
import { copyFile, open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Args, Flags } from '@oclif/core';
import { ApiError } from '../../shared/errors.ts';
import type { Upload } from '../../shared/http/node-request.ts';
import type { OnProgress } from '../../shared/routes/handler.ts';
import type { UpdateStatus } from '../../shared/schemas/update.ts';
import { MAX_BUNDLE_BYTES } from '../../shared/update/bundle.ts';
import { installPlaces } from '../../shared/update/install-places.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';

const POLL_MS = 1000;
/** Unpacking on a slow card, the restart, the question for its health, the trial, and the way back. */
const WAIT_MS = 45 * 60_000;
const OVER: ReadonlySet<UpdateStatus['step']> = new Set<UpdateStatus['step']>([
  'idle',
  'done',
  'returned',
  'failed',
]);

class UpdateCommand extends NodeCommand {
  static override summary = 'Install another version from a signed bundle; undone if it does not come up.';
  static override description =
    'The file goes to the node, which verifies it. With --allow-downgrade, as root on the node itself, an older version is installed too, also while the node is down; none below the security floor.';
  static override examples = [
    '<%= config.bin %> update svc_1.1.0_arm64.svcup --wait',
    '<%= config.bin %> update status',
    'sudo <%= config.bin %> update svc_1.0.0_arm64.svcup --allow-downgrade',
  ];
  static override args = { file: Args.string({ required: true, description: 'a bundle' }) };
  static override flags = {
    wait: Flags.boolean({ summary: 'until it is over, however it ends' }),
    force: Flags.boolean({ summary: 'even while the vehicle is armed', default: false }),
    'allow-downgrade': Flags.boolean({
      summary: 'an older version too; only as root on the node',
      exclusive: ['host', 'via'],
    }),
  };

  async run(): Promise<UpdateStatus> {
    const { args, flags } = await this.parse(UpdateCommand);
    const found = await stat(args.file).catch(() => null); // said below
    if (found?.isFile() !== true) this.error(`There is no file ${args.file}.`, { exit: EXIT.usage });
    if (found.size > MAX_BUNDLE_BYTES)
      this.error(`${args.file} has more than 200 MiB, so it is no bundle.`, { exit: EXIT.usage });
    if (flags['allow-downgrade']) return this.installHere(args.file, flags.force);
    const sent = await this.work('POST /api/v1/system/update', {
      query: { force: flags.force },
      upload: (show) => bytesOf(args.file, found.size, show),
    });
    if (!flags.wait) {
      this.log('The bundle is there, and is being installed. See: svc update status');
      return sent;
    }
    return this.follow(async () => this.call('GET /api/v1/system/update'));
  }

  /** By the updater of this machine, which is there with the node down too. */
  private async installHere(file: string, force: boolean): Promise<UpdateStatus> {
    if (process.getuid?.() !== 0)
      this.error('An older version is installed by root only. Run it with sudo, on the node.', {
        exit: EXIT.usage,
      });
    const { programRunner, SEARCH_PATH } = await import('../helper/find-program.ts');
    const { updateStatus } = await import('../helper/update/progress.ts');
    const { startUpdate } = await import('../helper/update/update-operations.ts');
    const places = installPlaces(process.env['SVC_SWITCH_ROOT']);
    const run = programRunner(process.env['SVC_HELPER_PATH'] ?? SEARCH_PATH, process.env);
    await startUpdate(run, places, { force, by_root: true }, async () => {
      await copyFile(file, places.bundle, constants.COPYFILE_FICLONE);
      const handle = await open(places.bundle, 'r');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
    return this.follow(async () => updateStatus(places));
  }

  /** Shows the steps until it is over; while the node restarts, nobody answers. @throws ApiError for how it did not end well */
  private async follow(ask: () => Promise<UpdateStatus | null>): Promise<UpdateStatus> {
    const deadline = performance.now() + WAIT_MS;
    let shown = '';
    while (performance.now() < deadline) {
      const status = await ask().catch((error: unknown) => {
        if (error instanceof ApiError && error.status < 500) throw error;
        return null; // it restarts
      });
      if (status !== null && OVER.has(status.step)) {
        if (status.error !== null) throw new ApiError('E_UPSTREAM', status.error, { ...status });
        this.log(`Version ${status.running} runs.`);
        return status;
      }
      const words = status === null ? 'restarting' : stepWords(status);
      if (words !== shown && !this.jsonEnabled()) this.logToStderr(words);
      shown = words;
      await delay(POLL_MS);
    }
    throw new ApiError('E_TIMEOUT', 'It is not over after 45 min. See: svc update status');
  }
}

function stepWords({ step, percent }: UpdateStatus): string {
  return percent === null ? step : `${step} ${Math.round(percent)} %`;
}

function bytesOf(file: string, size: number, show: OnProgress): Upload {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    let done = 0;
    for await (const chunk of createReadStream(file)) {
      yield chunk;
      done += chunk.length;
      show({ done, total: size, text: 'sending' });
    }
  };
  return {
    type: 'application/octet-stream',
    length: size,
    content: Readable.from(chunks(), { objectMode: false }),
  };
}

export default {
  update: UpdateCommand,
  'update:status': requestCommand('GET /api/v1/system/update', {
    summary: 'Show which version runs, which one was before it, and how an update goes.',
    examples: ['update status'],
    *lines({ running, previous, step, percent, error }) {
      yield `running    ${running}`;
      yield `previous   ${previous ?? 'none'}`;
      yield `update     ${step}${percent === null ? '' : ` ${Math.round(percent)} %`}`;
      if (error !== null) yield `           ${error}`;
    },
  }),
};
