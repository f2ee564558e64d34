import { setTimeout as wait } from 'node:timers/promises';
import { Errors, Flags } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { drawFrame, type Snapshot } from '../top/frame.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
/** Ctrl-C as a key: in raw mode it sends no signal. */
const CTRL_C = 3;
const WARNINGS = 8;
/** A node that takes longer is shown as one that does not answer. */
const ANSWER_MS = 5000;

class TopCommand extends NodeCommand {
  static override summary = 'Watch the node: vehicle, processes, links. q quits, s sorts by memory.';
  static override examples = [
    '<%= config.bin %> top',
    '<%= config.bin %> top --host 192.168.4.1 --key svc_… --interval 2',
    '<%= config.bin %> top --once',
  ];
  static override flags = {
    interval: Flags.custom<number>({
      parse: async (text) => {
        const seconds = Number(text);
        if (seconds >= 0.5 && seconds <= 60) return Promise.resolve(seconds);
        throw new Errors.CLIError('--interval is 0.5 to 60 seconds', { exit: EXIT.usage });
      },
    })({ summary: 'seconds between two updates, 0.5 to 60', default: 1 }),
    once: Flags.boolean({ summary: 'print once and exit; the default without a terminal' }),
  };
  #byMemory = false;

  async run(): Promise<void> {
    const { flags } = await this.parse(TopCommand);
    const interval = (flags.interval ?? 1) * 1000;
    if (this.jsonEnabled()) await this.report(interval, flags.once);
    else if (flags.once || !process.stdout.isTTY) this.print(await this.look(null));
    else await this.live(interval);
  }

  private print(snapshot: Snapshot): void {
    const columns = process.stdout.columns ?? 100;
    for (const line of drawFrame(snapshot, { columns, rows: 100, colour: false, byMemory: false }))
      this.log(line);
    if (snapshot.status === null) this.exit(EXIT.noNode);
  }

  /** One JSON document for each update, until a signal or the end of the reader. */
  private async report(interval: number, once: boolean): Promise<void> {
    for (;;) {
      process.stdout.write(`${JSON.stringify(await this.look(null))}\n`);
      if (once) return;
      await wait(interval);
    }
  }

  /** The terminal is restored in every case. */
  private async live(interval: number): Promise<void> {
    const { stdin, stdout } = process;
    const ended = new AbortController();
    const leave = (): void => {
      stdout.write(LEAVE);
    };
    process.once('exit', leave);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
    let snapshot: Snapshot | null = null;
    const draw = (): void => {
      if (snapshot === null) return;
      const { columns, rows } = stdout;
      const colour = (process.env['NO_COLOR'] ?? '') === '';
      const lines = drawFrame(snapshot, { columns, rows: rows - 1, colour, byMemory: this.#byMemory });
      stdout.write(HOME + lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join('') + CLEAR_BELOW);
    };
    stdout.on('resize', draw);
    if (stdin.isTTY) {
      stdin.setRawMode(true);
      stdin.on('data', (keys: Buffer) => {
        const text = keys.toString();
        if (/q/i.test(text) || keys.includes(CTRL_C)) ended.abort();
        if (text.includes('s')) this.#byMemory = !this.#byMemory;
        draw();
      });
    }
    stdout.write(ENTER);
    try {
      while (!ended.signal.aborted) {
        const seen = await this.look(ended.signal);
        if (ended.signal.aborted) break;
        snapshot = seen;
        draw();
        await wait(interval, undefined, { signal: ended.signal }).catch((error: unknown) => {
          if (!ended.signal.aborted) throw error; // aborted: the normal end
        });
      }
    } finally {
      stdout.removeListener('resize', draw);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      process.removeListener('exit', leave);
      leave();
    }
  }

  /** @param ended cancels a running update, so that a hanging node does not delay the exit */
  private async look(ended: AbortSignal | null): Promise<Snapshot> {
    const at = Date.now();
    const inTime = AbortSignal.timeout(ANSWER_MS);
    const signal = ended === null ? inTime : AbortSignal.any([ended, inTime]);
    try {
      const [status, diagnostics, warnings] = await Promise.all([
        this.call('GET /api/status/full', { signal }),
        this.call('GET /api/v1/diagnostics', { signal }).catch(() => null), // shown as absent
        this.call('GET /api/logs', { query: { level: 'warn', limit: WARNINGS }, signal }).catch(() => null), // no store: no lines
      ]);
      return { status, diagnostics, warnings: warnings?.entries ?? [], problem: null, at };
    } catch (error) {
      const problem = inTime.aborted ? `it did not answer within ${ANSWER_MS / 1000} s` : messageOf(error);
      return { status: null, diagnostics: null, warnings: [], problem, at };
    }
  }
}

export default { top: TopCommand };
