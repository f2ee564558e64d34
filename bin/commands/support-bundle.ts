import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { Flags } from '@oclif/core';
import { AUDIT_FILE, STRANGERS_FILE } from '../../front/control/stores/audit.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { maskedConfig } from '../../shared/config/mask.ts';
import { messageOf } from '../../shared/errors.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import { examine, examineRemote } from '../doctor/doctor.ts';
import { EXIT } from '../exit-codes.ts';
import { logFromDisk } from '../log-lines.ts';
import { NodeCommand } from '../node-command.ts';
import { makeRedactor } from '../redactor.ts';

const MAX_LOG_BYTES = 50 * 1024 * 1024;
const MAX_AUDIT_BYTES = 1024 * 1024;
const TAR_MS = 60_000;
const ANSWER_MS = 5000;
const LOGS_MS = 60_000;

/** The requests to the running node, by file name in the bundle. */
const ASKED = {
  'status.json': '/api/status/full',
  'services.json': '/api/services',
  'diagnostics.json': '/api/v1/diagnostics',
  'telemetry.json': '/api/telemetry',
  'config.json': '/api/config',
  'video.json': '/api/video',
  'log-stats.json': '/api/logs/stats',
} as const;
/** Files of the kernel. */
const KERNEL = ['cpuinfo', 'meminfo', 'loadavg', 'version', 'uptime', 'net/dev'] as const;

interface Bundle {
  readonly file: string;
  readonly files: readonly string[];
  readonly missing: readonly { readonly file: string; readonly why: string }[];
}

export default class SupportBundleCommand extends NodeCommand {
  static override summary = 'Collect what a helper needs, without secrets, in one .tar.gz.';
  static override description =
    'Status, services, diagnostics, masked config, the last day of logs, the newest audit records, doctor. Works with the node down too.';
  static override examples = [
    '<%= config.bin %> support-bundle',
    '<%= config.bin %> support-bundle --output /tmp/node.tar.gz',
  ];
  static override flags = {
    output: Flags.string({ summary: 'file to write', char: 'o' }),
  };
  readonly #files: string[] = [];
  readonly #missing: { file: string; why: string }[] = [];

  async run(): Promise<Bundle> {
    const { flags } = await this.parse(SupportBundleCommand);
    const stamp = new Date().toISOString().replaceAll(/[-:]/g, '').slice(0, 15);
    const output = resolve(flags.output ?? `svc-support-${hostname()}-${stamp}.tar.gz`);
    const folder = await mkdtemp(join(tmpdir(), 'svc-bundle-'));
    try {
      await this.collect(folder);
      await this.pack(folder, output);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    this.log(`${output}: ${this.#files.length} files`);
    for (const { file, why } of this.#missing) this.log(`  without ${file}: ${why}`);
    return { file: output, files: this.#files, missing: this.#missing };
  }

  private async collect(folder: string): Promise<void> {
    const { redact, unknown } = await makeRedactor(this.paths);
    const add = async (file: string, make: () => Promise<string>): Promise<boolean> =>
      this.addLines(folder, file, redact, async function* () {
        yield Buffer.from(await make());
      });
    const ask = async (method: string, path: string): Promise<unknown> =>
      this.api(method, path, undefined, AbortSignal.timeout(ANSWER_MS));
    // All at once, so that a hanging node costs only one time-out.
    await Promise.all([
      ...Object.entries(ASKED).map(async ([file, path]) =>
        add(file, async () => json(await ask('GET', path))),
      ),
      add('doctor.json', async () =>
        json(await (this.isElsewhere ? examineRemote(ask) : examine(this.paths, ask))),
      ),
    ]);
    const silent = this.#missing.find(({ file }) => file === 'status.json');
    if (silent !== undefined) this.#missing.push({ file: 'logs.ndjson', why: silent.why });
    const hasLogs =
      silent === undefined &&
      (await this.addLines(folder, 'logs.ndjson', redact, () =>
        this.stream('/api/logs/export?since=-24h', AbortSignal.timeout(LOGS_MS)),
      ));
    if (this.isElsewhere)
      this.#missing.push({ file: 'audit and machine', why: 'They are on the other machine.' });
    else {
      if (!this.#files.includes('config.json'))
        await add('config-file.json', async () => json(maskedConfig((await loadConfig(this.paths)).config)));
      if (!hasLogs)
        await this.addLines(folder, 'log-file.txt', redact, () =>
          logFromDisk(this.paths.logDir, MAX_LOG_BYTES),
        );
      for (const file of [AUDIT_FILE, STRANGERS_FILE])
        await add(file, async () => tail(join(this.paths.auditDir, file), MAX_AUDIT_BYTES));
      for (const name of KERNEL)
        await add(`proc-${name.replace('/', '-')}.txt`, async () => readFile(`/proc/${name}`, 'utf8'));
      for (const { file, why } of unknown)
        this.#missing.push({
          file: `the mask of ${file}, whose secrets are only found by pattern`,
          why,
        });
    }
    await add('versions.json', async () =>
      Promise.resolve(json({ svc: this.config.version, ...process.versions, arch: process.arch })),
    );
    await add('manifest.json', async () =>
      Promise.resolve(
        json({
          made_at: new Date().toISOString(),
          files: [...this.#files, 'manifest.json'],
          missing: this.#missing,
        }),
      ),
    );
  }

  /**
   * Writes one file of the bundle line by line, with secrets masked. A missing or incomplete file is listed with the reason;
   * the other files are not affected. @returns whether any line was written
   */
  private async addLines(
    folder: string,
    file: string,
    redact: (line: string) => string,
    make: () => AsyncIterable<Buffer>,
  ): Promise<boolean> {
    let lines = 0;
    let problem: unknown = null;
    try {
      await pipeline(
        async function* () {
          try {
            for await (const line of linesOf(bounded(make(), MAX_LOG_BYTES))) {
              lines++;
              yield `${redact(line)}\n`;
            }
          } catch (error) {
            problem = error; // the lines so far are kept: the file ends here
          }
        },
        createWriteStream(join(folder, file), { mode: 0o600 }),
      );
    } catch (error) {
      problem = error;
      lines = 0;
    }
    if (problem !== null) {
      const tookLong = problem instanceof DOMException && problem.name === 'TimeoutError';
      const why = tookLong ? 'It took too long.' : messageOf(problem);
      this.#missing.push({ file: lines > 0 ? `the rest of ${file}` : file, why });
      if (lines === 0) {
        await rm(join(folder, file), { force: true });
        return false;
      }
    }
    this.#files.push(file);
    return true;
  }

  /**
   * Written completely or not at all, readable only by the owner, and in a folder of its own, where nobody else can put a link.
   */
  private async pack(folder: string, output: string): Promise<void> {
    let beside: string | null = null;
    try {
      beside = await mkdtemp(join(dirname(output), '.svc-bundle-'));
      const partial = join(beside, 'bundle.tar.gz');
      await runProgram('tar', ['-czf', partial, '-C', folder, '.'], TAR_MS);
      await chmod(partial, 0o600);
      const file = await open(partial, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, output);
    } catch (error) {
      this.error(`The bundle cannot be written: ${messageOf(error)}`, { exit: EXIT.refused });
    } finally {
      if (beside !== null) await rm(beside, { recursive: true, force: true });
    }
  }
}

/** @throws if there is more; the part before is valid */
async function* bounded(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`It is longer than ${maxBytes / 2 ** 20} MiB.`);
    yield chunk;
  }
}

/** The lines, without line ends. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The newest whole lines of a file. */
async function tail(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    await file.read(buffer, 0, buffer.length, from);
    const text = buffer.toString();
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await file.close();
  }
}
