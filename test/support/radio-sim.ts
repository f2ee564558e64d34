import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { pathsFrom } from '../../shared/paths.ts';
import type { makeRadioKeys } from '../../shared/radio-keys.ts';

type Keys = ReturnType<typeof makeRadioKeys>;

export interface EndOptions {
  readonly base: string;
  readonly profile: 'drone' | 'ground-station';
  readonly radio: Readonly<Record<string, unknown>>;
  readonly sim: Readonly<Record<string, unknown>>;
  readonly keys: { readonly own: Keys; readonly peer: Keys };
}

/** A record of the JSON API. */
export interface RadioRecord {
  readonly type: 'settings' | 'rx' | 'tx';
  readonly id: string;
  readonly packets: Readonly<Record<string, readonly [number, number]>>;
  readonly session: { readonly fec_k: number; readonly fec_n: number } | null;
  readonly rx_ant_stats: readonly unknown[];
}

/** A real process with one end of a simulated radio, and a client of its JSON API. */
export class RadioSimEnd {
  readonly records: RadioRecord[] = [];
  readonly #process: ChildProcess;
  readonly #keyFile: string;
  #client: Socket | null = null;
  #wake: (() => void)[] = [];
  #stderr = '';

  private constructor(process: ChildProcess, keyFile: string) {
    this.#process = process;
    this.#keyFile = keyFile;
    process.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
  }

  static async start({ base, profile, radio, sim, keys }: EndOptions): Promise<RadioSimEnd> {
    const env = {
      SVC_ETC_DIR: join(base, 'etc'),
      SVC_RUN_DIR: join(base, 'run'),
      SVC_STATE_DIR: join(base, 'state'),
    };
    const paths = pathsFrom(env);
    await mkdir(paths.radioKeys, { recursive: true });
    await writeFile(
      paths.config,
      JSON.stringify({ agent: { profile }, radio: { mode: 'external', ...radio } }),
    );
    const keyFile = join(paths.radioKeys, 'slot-0.key');
    await writeFile(keyFile, Buffer.concat([keys.own.secret, keys.peer.publicKey]));
    const child = spawn(process.execPath, [join(import.meta.dirname, '../rig/radio-sim/main.ts')], {
      env: { ...process.env, ...env, SVC_RADIO_SIM: JSON.stringify(sim) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const end = new RadioSimEnd(child, keyFile);
    await end.#connect(Number(radio['api_port']));
    return end;
  }

  async #connect(port: number): Promise<void> {
    for (;;) {
      if (this.#process.exitCode !== null) throw new Error(this.#stderr);
      const client = connect(port, '127.0.0.1');
      const open = await once(client, 'connect').then(
        () => true,
        () => false, // it does not listen yet
      );
      if (!open) {
        await wait(50);
        continue;
      }
      this.#client = client;
      createInterface({ input: client }).on('line', (line) => {
        this.records.push(JSON.parse(line) as RadioRecord);
        for (const wake of this.#wake.splice(0)) wake();
      });
      return;
    }
  }

  /** The newest record of a stream once it is as wanted. */
  async until(id: string, wanted: (record: RadioRecord) => boolean = () => true): Promise<RadioRecord> {
    for (;;) {
      const last = this.records.findLast((record) => record.id === id);
      if (last !== undefined && wanted(last)) return last;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async setKeys(own: Keys, peer: Keys): Promise<void> {
    await writeFile(this.#keyFile, Buffer.concat([own.secret, peer.publicKey]));
  }

  async stop(): Promise<number | null> {
    this.#client?.destroy();
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await gone;
    return this.#process.exitCode;
  }
}
