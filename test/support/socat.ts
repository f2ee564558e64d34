import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A serial line: a pty at `path` with something else at its other end. Killing it unplugs the device. */
export class SerialLine {
  readonly path: string;
  readonly #child: ChildProcess;

  private constructor(path: string, child: ChildProcess) {
    this.path = path;
    this.#child = child;
  }

  /** @param other socat address, for example `TCP:127.0.0.1:5762` or a second pty */
  static async plug(path: string, other: string): Promise<SerialLine> {
    const child = spawn('/usr/bin/socat', ['-d', '-d', `PTY,link=${path},rawer,mode=666`, other], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    for await (const chunk of child.stderr ?? []) {
      text += String(chunk);
      if (text.includes('starting data transfer loop')) {
        child.stderr?.resume();
        return new SerialLine(path, child);
      }
    }
    throw new Error(`socat: ${text}`);
  }

  async unplug(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM'); // socat removes the link of its pty
    await gone;
  }
}
