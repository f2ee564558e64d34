import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { readActiveSlot } from '../../../shared/radio-slots.ts';
import type { BoundRadios } from '../radio/bound-radios.ts';
import { noDrone } from '../relay/relay-client.ts';

/** What listens to the active drone, the flight first. */
const LISTENERS = ['svc-link', 'svc-video'] as const;

export interface ActiveDroneOptions {
  readonly file: string;
  readonly radios: BoundRadios;
  /** Restarts a process of the node, and resolves when its successor runs. */
  readonly restart: (name: string) => Promise<unknown>;
  readonly log: Logger;
}

/** Which of a ground station's drones its own flight rows and video are about; the others are reached by the relay. */
export class ActiveDrone {
  readonly #options: ActiveDroneOptions;
  readonly #changes = new Serial();
  #slot = 0;

  constructor(options: ActiveDroneOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { file, log } = this.#options;
    this.#slot = await readActiveSlot(file, (sentence) => log.error(sentence));
  }

  async stop(): Promise<void> {
    await this.#changes.idle();
  }

  /** Null while no drone is bound in the slot that is listened to: then none of them is, until one is chosen. */
  get deviceId(): string | null {
    return this.#options.radios.list().find(({ slot }) => slot === this.#slot)?.device_id ?? null;
  }

  /**
   * Kept on the disk, then in force: svc-link and svc-video are restarted. If that fails, the drone from before is the active one.
   * @throws ApiError E_NOT_FOUND, E_STORE, and what the restart was refused with
   */
  async choose(deviceId: string): Promise<void> {
    await this.#changes.run(async () => {
      const { radios, log } = this.#options;
      const radio = radios.list().find(({ device_id: id }) => id === deviceId);
      if (radio === undefined) throw noDrone(deviceId);
      const before = this.#slot;
      if (radio.slot === before) return;
      await this.#write(radio.slot);
      try {
        await this.#restart();
      } catch (error) {
        await this.#write(before);
        // Its end may have come before its new start failed.
        await this.#restart().catch((again: unknown) => log.error(`active drone: ${messageOf(again)}`));
        throw error;
      }
      log.info(`the active drone is ${deviceId}, in slot ${radio.slot}`);
    });
  }

  async #write(slot: number): Promise<void> {
    const text = `${JSON.stringify({ version: 1, slot })}\n`;
    await writeAtomic(this.#options.file, text, 0o600).catch((error: unknown) => {
      throw new ApiError('E_STORE', `The active drone could not be written: ${messageOf(error)}.`);
    });
    this.#slot = slot;
  }

  async #restart(): Promise<void> {
    for (const name of LISTENERS) await this.#options.restart(name);
  }
}
