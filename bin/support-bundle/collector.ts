import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { ZipFile } from 'yazl';
import { loadConfig } from '../../shared/config/load.ts';
import { maskedConfig } from '../../shared/config/mask.ts';
import { messageOf } from '../../shared/errors.ts';
import { zipOutput } from '../../shared/files/zip-output.ts';
import { AUDIT_FILE, type Paths, PROGRAMS_FILE, STRANGERS_FILE } from '../../shared/paths.ts';
import { VERSION } from '../../shared/version.ts';
import { type Asker, callNode, type NodeAddress, streamNode } from '../client/local-client.ts';
import { examine } from '../doctor/doctor.ts';
import { logFromDisk } from './log-lines.ts';
import { makeRedactor, type Redactor } from './redactor.ts';

const MAX_LOG_BYTES = 50 * 1024 * 1024;
const MAX_AUDIT_BYTES = 1024 * 1024;
const ANSWER_MS = 5000;
/** As long as a slow reader of the bundle may hold the log up. */
const LOGS_MS = 300_000;

/** The requests to the running node, by file name in the bundle. */
const ASKED = {
  'status.json': 'GET /api/status/full',
  'services.json': 'GET /api/services',
  'diagnostics.json': 'GET /api/v1/diagnostics',
  'telemetry.json': 'GET /api/telemetry',
  'config.json': 'GET /api/config',
  'video.json': 'GET /api/video',
  'log-stats.json': 'GET /api/logs/stats',
} as const;
/** Files of the kernel. */
const KERNEL = ['cpuinfo', 'meminfo', 'loadavg', 'version', 'uptime', 'net/dev'] as const;

/** The last file of a bundle. */
export const BUNDLE_MANIFEST = 'manifest.json';

export interface Missing {
  readonly file: string;
  readonly why: string;
}

/**
 * Collects what a helper needs of the node on this machine, running or not, without secrets: a zip archive that comes while it is
 * made, so that nothing of it is on the disk. Status, services, diagnostics, masked config, the last day of logs, the newest audit
 * records, doctor; at the end a manifest of what is in it and what is missing, with the reason.
 * @returns the archive; destroyed with the error if it cannot be made
 */
export function bundleOf(paths: Paths): Readable {
  return new BundleCollector(paths).collect();
}

class BundleCollector {
  readonly #paths: Paths;
  readonly #address: NodeAddress;
  readonly #zip = new ZipFile();
  readonly #files: string[] = [];
  readonly #missing: Missing[] = [];

  constructor(paths: Paths) {
    this.#paths = paths;
    this.#address = { socketPath: paths.controlSocket };
  }

  collect(): Readable {
    const archive = zipOutput(this.#zip);
    this.#addAll().then(
      () => this.#zip.end(),
      (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return archive;
  }

  async #addAll(): Promise<void> {
    const paths = this.#paths;
    const redactor = await makeRedactor(paths);
    const add = async (file: string, make: () => Promise<string>): Promise<void> =>
      this.#add(file, redactor, make);
    const answer: Asker = async (route, more) =>
      callNode(this.#address, route, { ...more, signal: AbortSignal.timeout(ANSWER_MS) });
    await add('versions.json', async () =>
      Promise.resolve(json({ svc: VERSION, ...process.versions, arch: process.arch })),
    );
    // All at once, so that a hanging node costs only one time-out.
    await Promise.all([
      ...Object.entries(ASKED).map(async ([file, route]) => add(file, async () => json(await answer(route)))),
      add('doctor.json', async () => json(await examine(paths, answer))),
    ]);
    if (!this.#files.includes('config.json'))
      await add('config-file.json', async () => json(maskedConfig((await loadConfig(paths)).config)));
    for (const file of [AUDIT_FILE, PROGRAMS_FILE, STRANGERS_FILE])
      await add(file, async () => tail(join(paths.auditDir, file), MAX_AUDIT_BYTES));
    for (const name of KERNEL)
      await add(`proc-${name.replace('/', '-')}.txt`, async () => readFile(`/proc/${name}`, 'utf8'));
    await this.#addLog(redactor);
    for (const { file, why } of redactor.unknown)
      this.#missing.push({ file: `the mask of ${file}, whose secrets are only found by pattern`, why });
    await add(BUNDLE_MANIFEST, async () =>
      Promise.resolve(
        json({
          made_at: new Date().toISOString(),
          files: [...this.#files, BUNDLE_MANIFEST],
          missing: this.#missing,
        }),
      ),
    );
  }

  /** From the node; where it cannot be asked, from the disk. */
  async #addLog(redactor: Redactor): Promise<void> {
    const silent = this.#missing.find(({ file }) => file === 'status.json');
    if (silent !== undefined) this.#missing.push({ file: 'logs.ndjson', why: silent.why });
    const fromNode =
      silent === undefined &&
      (await this.#addStream('logs.ndjson', redactor, () =>
        streamNode(this.#address, 'GET /api/logs/export', {
          query: { since: '-24h' },
          signal: AbortSignal.timeout(LOGS_MS),
        }),
      ));
    if (!fromNode)
      await this.#addStream('log-file.txt', redactor, () => logFromDisk(this.#paths.logDir, MAX_LOG_BYTES));
  }

  /** A small file; if it cannot be had, it is listed with the reason, and the others go on. */
  async #add(file: string, { redact }: Redactor, make: () => Promise<string>): Promise<void> {
    try {
      this.#zip.addBuffer(Buffer.from(redact(await make())), file);
      this.#files.push(file);
    } catch (error) {
      this.#misses(file, error);
    }
  }

  /** A long file, masked while it comes; one that ends too early is kept and listed. @returns whether it has anything */
  async #addStream(file: string, { redact }: Redactor, make: () => AsyncIterable<Buffer>): Promise<boolean> {
    const blocks = blocksOf(bounded(make(), MAX_LOG_BYTES));
    try {
      const first = await blocks.next();
      if (first.done === true) return false;
      const misses = (error: unknown): void => this.#misses(`the rest of ${file}`, error);
      const masked = Readable.from(
        (async function* () {
          yield redact(first.value);
          try {
            for await (const block of blocks) yield redact(block);
          } catch (error) {
            misses(error); // what came so far is kept: the file ends here
          }
        })(),
        { objectMode: false },
      );
      this.#zip.addReadStream(masked, file);
      await finished(masked);
      this.#files.push(file);
      return true;
    } catch (error) {
      this.#misses(file, error);
      return false;
    }
  }

  #misses(file: string, error: unknown): void {
    const tookLong = error instanceof DOMException && error.name === 'TimeoutError';
    this.#missing.push({ file, why: tookLong ? 'It took too long.' : messageOf(error) });
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

/** Whole lines, several at a time, so that no secret is cut in two. */
async function* blocksOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) yield text.slice(0, end);
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
