import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { worksAtLast } from './ask-again.ts';
import { freePort } from './temp.ts';

/** Where `.ci/run` puts `org.gaul:s3proxy`, with all that it needs. */
const JAR = process.env['SVC_S3PROXY'] ?? '';
/** It lives for a minute: what would make it quicker later costs more than it saves. */
const JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m', '-jar', JAR];
export const BUCKET = 'flights';
export const KEYS = { access_key_id: 'AKIDFLIGHTS', secret_access_key: 'a/very+secret/key' } as const;

/** Why these tests cannot run here; null where they can. */
export function noS3Server(): string | null {
  return existsSync(JAR) ? null : 'SVC_S3PROXY is not the jar of S3Proxy';
}

type Operation = 'CreateMultipartUpload' | 'PutObject' | 'UploadPart' | 'other';

function operationOf(method: string, query: URLSearchParams): Operation {
  if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload';
  if (method !== 'PUT') return 'other';
  return query.has('partNumber') ? 'UploadPart' : 'PutObject';
}

/** S3Proxy, which checks signatures; objects are files below a folder. What it answers is counted in front of it. */
export class S3Server {
  readonly port: number;
  readonly #folder: string;
  readonly #data: string;
  #process: ChildProcess | null = null;
  #front: Server | null = null;
  #answers: { readonly operation: Operation; readonly status: number }[] = [];

  private constructor(folder: string, data: string, port: number) {
    this.#folder = folder;
    this.#data = data;
    this.port = port;
  }

  /** @param data where objects are kept */
  static async start(folder: string, data = join(folder, 'data')): Promise<S3Server> {
    const server = new S3Server(folder, data, await freePort());
    await mkdir(folder, { recursive: true });
    await mkdir(join(data, BUCKET), { recursive: true });
    await server.run();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Again after `kill`. */
  async run(): Promise<void> {
    const port = await freePort();
    const settings = {
      's3proxy.endpoint': `http://127.0.0.1:${port}`,
      's3proxy.authorization': 'aws-v4',
      's3proxy.identity': KEYS.access_key_id,
      's3proxy.credential': KEYS.secret_access_key,
      'jclouds.provider': 'filesystem',
      'jclouds.filesystem.basedir': this.#data,
    };
    const file = join(this.#folder, 's3proxy.conf');
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(file, lines.join(''));
    // Java takes the names of files from it.
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };
    this.#process = spawn('java', [...JAVA, '--properties', file], { stdio: 'ignore', env });
    await worksAtLast('the S3 server', async () => fetch(`http://127.0.0.1:${port}`));
    this.#front = createServer((req, res) => {
      const { method = '', url = '', headers } = req;
      const operation = operationOf(method, new URL(url, this.url).searchParams);
      const behind = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
        const { statusCode: status = 0 } = answer;
        this.#answers.push({ operation, status });
        // Whoever asked has gone meanwhile.
        if (res.destroyed) {
          answer.destroy();
          return;
        }
        res.writeHead(status, answer.headers);
        pipeline(answer, res, (error) => error && res.destroy());
      });
      behind.once('error', () => res.destroy());
      pipeline(req, behind, (error) => error && behind.destroy());
    }).listen(this.port, '127.0.0.1');
    await once(this.#front, 'listening');
  }

  /** As it was at first; it runs, where it was killed. */
  async empty(): Promise<void> {
    await rm(join(this.#data, BUCKET), { recursive: true });
    await mkdir(join(this.#data, BUCKET));
    this.#answers = [];
    if (this.#process === null) await this.run();
  }

  /** At once, as in a power cut. */
  async kill(): Promise<void> {
    this.#front?.close();
    this.#front?.closeAllConnections();
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

  /** How many requests of this operation it has answered with 200. */
  answered(of: Exclude<Operation, 'other'>): number {
    return this.#answers.filter(({ operation, status }) => operation === of && status === 200).length;
  }
}
