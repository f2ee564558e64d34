import { execFile } from 'node:child_process';
import { chmod, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Flags } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import { redact } from '../../shared/logger.ts';
import { examine } from '../doctor/doctor.ts';
import { NodeCommand } from '../node-command.ts';

const run = promisify(execFile);

const MAX_LOG_BYTES = 50 * 1024 * 1024;
const MAX_AUDIT_BYTES = 1024 * 1024;
const TAR_MS = 60_000;

/** What the running node is asked for, by the file's name in the bundle. */
const ASKED = {
  'status.json': '/api/status/full',
  'services.json': '/api/services',
  'diagnostics.json': '/api/v1/diagnostics',
  'telemetry.json': '/api/telemetry',
  'config.json': '/api/config',
  'video.json': '/api/video',
  'log-stats.json': '/api/logs/stats',
} as const;
/** What the kernel says. */
const KERNEL = ['cpuinfo', 'meminfo', 'loadavg', 'version', 'uptime', 'net/dev'] as const;

interface Bundle {
  readonly file: string;
  readonly files: readonly string[];
  readonly missing: readonly { readonly file: string; readonly why: string }[];
}

export default class SupportBundleCommand extends NodeCommand {
  static override summary = 'Collect what somebody needs to help, without any secret, in one .tar.gz.';
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
    for (const [file, path] of Object.entries(ASKED))
      await this.add(folder, file, async () => json(await this.api('GET', path)));
    await this.add(folder, 'doctor.json', async () =>
      json(await examine(this.paths, async (method, path) => this.api(method, path))),
    );
    await this.add(folder, 'logs.ndjson', async () => this.logs());
    await this.add(folder, 'audit.ndjson', async () =>
      tail(join(this.paths.auditDir, 'audit.ndjson'), MAX_AUDIT_BYTES),
    );
    for (const name of KERNEL)
      await this.add(folder, `proc-${name.replace('/', '-')}.txt`, async () =>
        readFile(`/proc/${name}`, 'utf8'),
      );
    await this.add(folder, 'versions.json', async () =>
      Promise.resolve(json({ svc: this.config.version, ...process.versions, arch: process.arch })),
    );
    await writeFile(
      join(folder, 'manifest.json'),
      json({ made_at: new Date().toISOString(), files: this.#files, missing: this.#missing }),
    );
    this.#files.push('manifest.json');
  }

  /** What cannot be had is listed with the reason, and nothing else is the poorer for it. */
  private async add(folder: string, file: string, make: () => Promise<string>): Promise<void> {
    try {
      const text = await make();
      await writeFile(join(folder, file), text.split('\n').map(redact).join('\n'), { mode: 0o600 });
      this.#files.push(file);
    } catch (error) {
      this.#missing.push({ file, why: messageOf(error) });
    }
  }

  private async logs(): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.stream('/api/logs/export?since=-24h')) {
      bytes += chunk.length;
      if (bytes > MAX_LOG_BYTES) break;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  /** Whole or not at all, and for the owner's eyes. */
  private async pack(folder: string, output: string): Promise<void> {
    const partial = join(dirname(output), `.${process.pid}.svc-bundle`);
    try {
      await run('tar', ['-czf', partial, '-C', folder, '.'], { timeout: TAR_MS });
      await chmod(partial, 0o600);
      const file = await open(partial, 'r');
      await file.sync();
      await file.close();
      await rename(partial, output);
    } catch (error) {
      await rm(partial, { force: true });
      this.error(`The bundle cannot be written: ${messageOf(error)}`, { exit: 1 });
    }
  }
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
