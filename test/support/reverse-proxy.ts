import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { worksAtLast } from './ask-again.ts';
import { removeDir, tempDir } from './temp.ts';

/** Whether a program is there. */
export function hasProgram(name: 'nginx' | 'caddy'): boolean {
  try {
    execFileSync(name, [name === 'nginx' ? '-v' : 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A real nginx or Caddy in front of a node. */
export class ReverseProxy {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  /** @param servers its server blocks; FOLDER stands for a folder that has cert.pem and key.pem @param port one that it listens on */
  static async start(program: 'nginx' | 'caddy', servers: string, port: number): Promise<ReverseProxy> {
    const folder = await tempDir();
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    execFileSync('openssl', ['req', '-x509', '-nodes', '-days', '2', ...curve, ...subject, ...files], {
      stdio: 'ignore',
    });
    await mkdir(join(folder, 'temp'));
    const config = program === 'nginx' ? nginxConfig(servers) : `{\nadmin off\nauto_https off\n}\n${servers}`;
    const file = join(folder, 'config');
    await writeFile(file, config.replaceAll('FOLDER', folder));
    const args =
      program === 'nginx' ? ['-c', file, '-p', folder] : ['run', '--config', file, '--adapter', 'caddyfile'];
    const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, HOME: folder } });
    await worksAtLast(program, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    });
    return new ReverseProxy(folder, child);
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await gone;
    await removeDir(this.#folder);
  }
}

function nginxConfig(servers: string): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path FOLDER/temp/${name};`,
  );
  return `daemon off; pid FOLDER/pid; error_log FOLDER/error.log; worker_processes 1; events {}
http { access_log off; ${temp.join(' ')}
map $http_upgrade $connection_upgrade { default upgrade; '' close; }
${servers} }`;
}
