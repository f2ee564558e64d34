import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Flags } from '@oclif/core';
import { openPromise } from 'yauzl';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { BUNDLE_MANIFEST, bundleOf, type Missing } from '../support-bundle/collector.ts';

/** Until the first bytes come; a node that hangs longer is looked at from outside. */
const FIRST_MS = 10_000;
const WHOLE_MS = 600_000;
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_MANIFEST_BYTES = 1024 * 1024;

interface Contents {
  readonly files: readonly string[];
  readonly missing: readonly Missing[];
}

interface Bundle extends Contents {
  readonly file: string;
}

class SupportBundleCommand extends NodeCommand {
  static override summary = 'Collect what a helper needs, without secrets, in one .zip.';
  static override description =
    'Status, services, diagnostics, masked config, the last day of logs, the newest audit records, doctor. The running node makes it; with the node of this machine down, this command does.';
  static override examples = [
    '<%= config.bin %> support-bundle',
    '<%= config.bin %> support-bundle --output /tmp/node.zip',
  ];
  static override flags = {
    output: Flags.string({ summary: 'file to write', char: 'o' }),
  };

  async run(): Promise<Bundle> {
    const { flags } = await this.parse(SupportBundleCommand);
    const stamp = new Date().toISOString().replaceAll(/[-:]/g, '').slice(0, 15);
    const output = resolve(flags.output ?? `svc-support-${hostname()}-${stamp}.zip`);
    const { files, missing } = await this.store(await this.open(), output);
    this.log(`${output}: ${files.length} files`);
    for (const { file, why } of missing) this.log(`  without ${file}: ${why}`);
    return { file: output, files, missing };
  }

  /** The node's own bundle; with the node of this machine down or broken, one from here. @throws ApiError of the node */
  private async open(): Promise<AsyncIterable<Buffer>> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new ApiError('E_TIMEOUT', 'The node hangs.')), FIRST_MS);
    const signal = AbortSignal.any([late.signal, AbortSignal.timeout(WHOLE_MS)]);
    const coming = this.stream('GET /api/v1/support-bundle', { signal });
    try {
      const first = await coming.next();
      return (async function* () {
        if (first.done !== true) yield first.value;
        yield* coming;
      })();
    } catch (error) {
      const busy = error instanceof ApiError && error.code === 'E_BUSY';
      if (this.isElsewhere || busy) throw error;
      this.log(`The node does not make it, so it is made without the node: ${messageOf(error)}`);
      return bundleOf(this.paths);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Written completely or not at all, readable only by the owner, and in a folder of its own, where nobody else can put a link.
   * @returns what its manifest says
   */
  private async store(bytes: AsyncIterable<Buffer>, output: string): Promise<Contents> {
    let beside: string | null = null;
    try {
      beside = await mkdtemp(join(dirname(output), '.svc-bundle-'));
      const partial = join(beside, 'bundle.zip');
      await pipeline(bounded(bytes), createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }));
      const contents = await contentsOf(partial);
      await rename(partial, output);
      return contents;
    } catch (error) {
      return this.error(`The bundle cannot be written: ${messageOf(error)}`, { exit: EXIT.refused });
    } finally {
      if (beside !== null) await rm(beside, { recursive: true, force: true });
    }
  }
}

async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`It is longer than ${MAX_BYTES / 2 ** 20} MiB.`);
    yield chunk;
  }
}

/** @throws Error for an archive that is not complete */
async function contentsOf(path: string): Promise<Contents> {
  const zip = await openPromise(path);
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== BUNDLE_MANIFEST || entry.uncompressedSize > MAX_MANIFEST_BYTES) continue;
      return JSON.parse(await text(await zip.openReadStreamPromise(entry))) as Contents;
    }
  } finally {
    zip.close();
  }
  throw new Error('It has no manifest.');
}

export default { 'support-bundle': SupportBundleCommand };
