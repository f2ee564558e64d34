import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { worksAtLast } from './ask-again.ts';
import { freePort } from './temp.ts';

const BINARY = 'versitygw';
export const BUCKET = 'flights';
export const KEYS = { access_key_id: 'AKIDFLIGHTS', secret_access_key: 'a/very+secret/key' } as const;

/** Why these tests cannot run here; null where they can. */
export function noS3Server(): string | null {
  try {
    execFileSync(BINARY, ['--version'], { stdio: 'ignore' });
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'versitygw is not installed' : null;
  }
}

/** The S3 server of Versity, as it comes from the Go module proxy: objects are files below a folder. */
export class S3Server {
  readonly port: number;
  readonly #folder: string;
  readonly #data: string;
  readonly #meta: string | null;
  #process: ChildProcess | null = null;

  private constructor(folder: string, data: string, meta: string | null, port: number) {
    this.#folder = folder;
    this.#data = data;
    this.#meta = meta;
    this.port = port;
  }

  /** @param data where objects are kept @param meta and what is said of them; null: in attributes of their files */
  static async start(
    folder: string,
    data = join(folder, 'data'),
    meta: string | null = null,
  ): Promise<S3Server> {
    const server = new S3Server(folder, data, meta, await freePort());
    for (const each of [join(data, BUCKET), ...(meta === null ? [] : [meta])])
      await mkdir(each, { recursive: true });
    await server.run();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Again after `kill`. */
  async run(): Promise<void> {
    const { access_key_id: access, secret_access_key: secret } = KEYS;
    const meta = this.#meta === null ? [] : ['--sidecar', this.#meta];
    const listen = ['--port', `127.0.0.1:${this.port}`, '--access-log', join(this.#folder, 'access.log')];
    const args = ['--access', access, '--secret', secret, ...listen, 'posix', ...meta, this.#data];
    this.#process = spawn(BINARY, args, { stdio: 'ignore' });
    await worksAtLast('the S3 server', async () => fetch(this.url));
  }

  /** At once, as in a power cut. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** What it has under a key. */
  async object(key: string): Promise<Buffer> {
    return readFile(this.path(key));
  }

  path(key: string): string {
    return join(this.#data, BUCKET, key);
  }

  /** How many requests of this operation, as `s3_UploadPart`, it has answered with this status. */
  async answered(operation: string, status = 200): Promise<number> {
    const text = await readFile(join(this.#folder, 'access.log'), 'utf8');
    return text.split('\n').filter((line) => line.includes(` ${operation} `) && line.includes(` ${status} `))
      .length;
  }
}
