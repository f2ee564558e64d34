import { readFile } from 'node:fs/promises';
import { Serial } from '../../../shared/async/serial.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Credentials } from '../stores/credentials.ts';
import type { Denied } from '../stores/denied.ts';
import { mosquittoAcl } from './mosquitto-files.ts';

interface BrokerRulesOptions {
  readonly fleet: string;
  /** The file of rules. */
  readonly file: string;
  /** Of a Mosquitto that others have started; null: none. */
  readonly pidFile: string | null;
  /** Process id of a Mosquitto that the hub runs itself; null: none. */
  readonly own: () => number | null;
  readonly denied: Pick<Denied, 'list'>;
  /** Whose machines call by a connection of their own. */
  readonly credentials: Pick<Credentials, 'list'>;
  readonly log: Logger;
}

/** Who calls and who is denied, as the broker reads it. Mosquitto applies rules that it has read again to clients that are connected. */
export class BrokerRules {
  readonly #options: BrokerRulesOptions;
  readonly #turn = new Serial();
  #written = '';

  constructor(options: BrokerRulesOptions) {
    this.#options = options;
  }

  /** Writes the file, if it has to be another one, and has it read. @throws Error if it cannot be written */
  async apply(): Promise<void> {
    await this.#turn.run(async () => {
      const { fleet, file, credentials, denied } = this.#options;
      const callers = (await credentials.list()).map(({ id }) => id);
      const text = mosquittoAcl(fleet, callers, await denied.list());
      if (text === this.#written) return;
      await writeAtomic(file, text, 0o644);
      this.#written = text;
      await this.reload();
    });
  }

  /** Also for new certificates. */
  async reload(): Promise<void> {
    const { own, log } = this.#options;
    const pid = own() ?? (await this.#foreign());
    if (pid === null) return;
    try {
      process.kill(pid, 'SIGHUP');
    } catch (error) {
      log.error(`the broker could not be told to read its rules again: ${String(error)}`);
    }
  }

  async #foreign(): Promise<number | null> {
    const { pidFile, log } = this.#options;
    if (pidFile === null) return null;
    try {
      const pid = Number((await readFile(pidFile, 'utf8')).trim());
      const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
      if (name === 'mosquitto') return pid; // not another process that has its number now
      log.error(`${pidFile}: process ${pid} is ${name}, not mosquitto; the rules were not read again`);
    } catch (error) {
      log.error(`${pidFile}: ${String(error)}; the rules were not read again`);
    }
    return null;
  }
}
