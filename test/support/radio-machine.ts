import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recorded } from './report-server.ts';
import { removeDir, tempDir } from './temp.ts';

const BIN = join(import.meta.dirname, 'radio-bin');

/** A machine with radio cards, as far as files and programs show it: sysfs, iw, systemctl with wfb-ng. */
export class RadioMachine {
  readonly base: string;
  readonly sys: string;
  /** What wfb-ng reads. */
  readonly folder: string;
  readonly #iw: string;

  private constructor(base: string) {
    this.base = base;
    this.sys = join(base, 'sys');
    this.folder = join(base, 'wfb');
    this.#iw = join(base, 'iw');
  }

  static async of(...cards: readonly string[]): Promise<RadioMachine> {
    const base = await tempDir();
    const machine = new RadioMachine(base);
    await mkdir(join(machine.sys, 'class/net'), { recursive: true });
    await mkdir(join(machine.base, 'nm'), { recursive: true });
    await mkdir(machine.folder);
    await mkdir(machine.#iw);
    await mkdir(join(base, 'bin'));
    // svc-helper passes no environment on.
    const told = Object.entries(machine.#told).map(([name, value]) => `export ${name}='${value}'`);
    for (const name of await readdir(BIN)) {
      const text = `#!/bin/sh\n${told.join('\n')}\nexec '${join(BIN, name)}' "$@"\n`;
      await writeFile(join(base, 'bin', name), text, { mode: 0o755 });
    }
    for (const card of cards) await machine.plug(card);
    return machine;
  }

  get env(): Readonly<Record<string, string>> {
    const path = `${join(this.base, 'bin')}:${process.env['PATH'] ?? ''}`;
    return {
      PATH: path,
      SVC_HELPER_PATH: path,
      SVC_HELPER_RADIO_DIR: this.folder,
      SVC_HELPER_NM_DIR: join(this.base, 'no-network-manager'),
      SVC_HELPER_SYS_DIR: this.sys,
      SVC_SYS_DIR: this.sys,
    };
  }

  get #told(): Readonly<Record<string, string>> {
    return {
      SVC_TEST_RADIO: this.folder,
      SVC_TEST_SYS: this.sys,
      SVC_TEST_IW: this.#iw,
      SVC_TEST_NODE: process.execPath,
    };
  }

  async plug(card: string): Promise<void> {
    const folder = join(this.sys, 'class/net', card);
    await mkdir(join(folder, 'statistics'), { recursive: true });
    await mkdir(join(folder, 'phy80211'));
    await writeFile(join(folder, 'statistics/rx_packets'), '0\n');
    await writeFile(join(folder, 'phy80211/name'), 'phy1\n');
    await writeFile(join(this.#iw, `${card}.channel`), '161\n');
    await writeFile(join(this.#iw, `${card}.power`), '18\n');
  }

  async unplug(card: string): Promise<void> {
    await rm(join(this.sys, 'class/net', card), { recursive: true });
    await rm(join(this.#iw, `${card}.channel`));
  }

  /** From now on the card has received so many frames. */
  async receive(card: string, frames: number): Promise<void> {
    // As in sysfs, whoever reads it meanwhile gets a number.
    const file = join(this.sys, 'class/net', card, 'statistics/rx_packets');
    await writeFile(`${file}.new`, `${frames}\n`);
    await rename(`${file}.new`, file);
  }

  /** Where the channel of a card stands, for a simulated radio to follow. */
  channelFile(card: string): string {
    return join(this.#iw, `${card}.channel`);
  }

  async channelOf(card: string): Promise<number> {
    return Number(await readFile(this.channelFile(card), 'utf8'));
  }

  /** What the kernel says to every change from now on, or to those of one card; null: it does what it is asked for. */
  async refuse(words: string | null, card = ''): Promise<void> {
    const file = join(this.#iw, `${card === '' ? '' : `${card}.`}refuses`);
    if (words === null) await rm(file);
    else await writeFile(file, words);
  }

  /** What wfb-ng hears. */
  async hears(recording: string): Promise<void> {
    await writeFile(join(this.folder, 'reports'), recorded(recording).slice(1).join('\n'));
  }

  async wfbConfig(): Promise<string> {
    return readFile(join(this.folder, 'wifibroadcast.cfg'), 'utf8');
  }

  /** What systemctl was asked for, a line each. */
  async asked(): Promise<readonly string[]> {
    const text = await readFile(join(this.folder, 'asked'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('show'));
  }

  async pid(): Promise<number> {
    return Number(await readFile(join(this.folder, 'pid'), 'utf8').catch(() => '0'));
  }

  async stop(): Promise<void> {
    const pid = await this.pid();
    if (pid > 0) {
      try {
        process.kill(pid);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    await removeDir(this.base);
  }
}
