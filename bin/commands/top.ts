import { Flags } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import { NodeCommand } from '../node-command.ts';
import { drawFrame, type Json, type Snapshot } from '../top/frame.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
/** As a key: in raw mode no signal comes of it. */
const CTRL_C = 3;
const WARNINGS = 8;

export default class TopCommand extends NodeCommand {
  static override summary =
    'Watch the node live: vehicle, processes, links, warnings. q quits, s sorts by memory.';
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
        throw new Error('--interval is 0.5 to 60 seconds');
      },
    })({ summary: 'seconds between two looks, 0.5 to 60', default: 1 }),
    once: Flags.boolean({ summary: 'one look, then end; so it is also where there is no terminal' }),
  };
  #byMemory = false;

  async run(): Promise<void> {
    const { flags } = await this.parse(TopCommand);
    const interval = (flags.interval ?? 1) * 1000;
    if (this.jsonEnabled()) await this.report(interval, flags.once);
    else if (flags.once || !process.stdout.isTTY) this.print(await this.look());
    else await this.live(interval);
  }

  private print(snapshot: Snapshot): void {
    const columns = process.stdout.columns ?? 100;
    for (const line of drawFrame(snapshot, { columns, rows: 100, colour: false, byMemory: false }))
      this.log(line);
    if (snapshot.status === null) this.exit(3);
  }

  /** One JSON document a look. */
  private async report(interval: number, once: boolean): Promise<void> {
    for (;;) {
      process.stdout.write(`${JSON.stringify(await this.look())}\n`);
      if (once) return;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  }

  /** The terminal is given back as it was, however this ends. */
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
        snapshot = await this.look();
        draw();
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, interval);
          ended.signal.addEventListener('abort', () => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    } finally {
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      process.removeListener('exit', leave);
      leave();
    }
  }

  private async look(): Promise<Snapshot> {
    const at = Date.now();
    try {
      const status = (await this.api('GET', '/api/status/full')) as Json;
      const [diagnostics, warnings] = await Promise.all([
        this.api('GET', '/api/v1/diagnostics').catch(() => null), // shown as absent
        this.api('GET', `/api/logs?level=warn&limit=${WARNINGS}`).catch(() => null), // no store: no lines
      ]);
      const entries = (warnings as { readonly entries?: readonly Json[] } | null)?.entries ?? [];
      return { status, diagnostics: diagnostics as Json | null, warnings: entries, problem: null, at };
    } catch (error) {
      return { status: null, diagnostics: null, warnings: [], problem: messageOf(error), at };
    }
  }
}
