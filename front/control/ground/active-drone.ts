import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type ActiveChoice, activeDroneFile, readActiveChoice } from '../../../shared/radio-slots.ts';
import type { BoundRadio, BoundRadios } from '../relay/bound-radios.ts';
import { noDrone } from '../relay/relay-client.ts';

/** What listens to the active drone, the flight first. */
const LISTENERS = ['svc-link', 'svc-video'] as const;

interface ActiveDroneOptions {
  readonly file: string;
  readonly radios: BoundRadios;
  /** Restarts a process of the node, and resolves when its successor runs. */
  readonly restart: (name: string) => Promise<unknown>;
  readonly log: Logger;
}

/**
 * Which of a ground station's drones its own flight rows and video are about; the others are reached by the relay. It is the first
 * that was ever bound, until another is chosen; one whose binding ends is not active any more, also when it is bound again.
 */
export class ActiveDrone {
  readonly #options: ActiveDroneOptions;
  readonly #changes = new Serial();
  /** Slot 0 for the first drone while none was bound yet. */
  #choice: ActiveChoice = { slot: 0, deviceId: null };
  #forget: (() => void) | null = null;

  constructor(options: ActiveDroneOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { file, radios, log } = this.#options;
    this.#choice = (await readActiveChoice(file, (sentence) => log.error(sentence))) ?? this.#choice;
    this.#forget = radios.onChange(() => this.#follow());
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#forget?.();
    await this.#changes.idle();
  }

  /** Null while no drone is bound in the slot that is listened to: then none of them is, until one is chosen. */
  get deviceId(): string | null {
    const { slot, deviceId } = this.#choice;
    const there = slot === null ? undefined : this.#inSlot(slot);
    return there === undefined || (deviceId !== null && there.device_id !== deviceId)
      ? null
      : there.device_id;
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
      const before = this.#choice;
      const next = { slot: radio.slot, deviceId };
      if (before.slot === next.slot && before.deviceId === deviceId) return;
      await this.#write(next);
      if (before.slot === next.slot) return;
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

  /** What became of the active drone when the bound radios have changed. */
  #follow(): void {
    const { radios, log } = this.#options;
    this.#changes
      .run(async () => {
        const { slot, deviceId } = this.#choice;
        if (slot === null) return;
        const radio =
          deviceId === null ? this.#inSlot(slot) : radios.list().find(({ device_id: id }) => id === deviceId);
        if (radio === undefined && deviceId === null && radios.list().length === 0) return; // the first is still to come
        const next = { slot: radio?.slot ?? null, deviceId: radio?.device_id ?? null };
        if (next.slot === slot && next.deviceId === deviceId) return;
        await this.#write(next);
        if (next.slot === slot) return;
        if (next.slot === null)
          log.warn(`the active drone ${deviceId ?? ''} is not bound any more; choose another one`);
        await this.#restart();
      })
      .catch((error: unknown) => log.error(`active drone: ${messageOf(error)}`));
  }

  #inSlot(slot: number): BoundRadio | undefined {
    return this.#options.radios.list().find((radio) => radio.slot === slot);
  }

  async #write(choice: ActiveChoice): Promise<void> {
    const { slot, deviceId: device_id } = choice;
    await activeDroneFile(this.#options.file).store({ version: 1, slot, device_id });
    this.#choice = choice;
  }

  async #restart(): Promise<void> {
    for (const name of LISTENERS) await this.#options.restart(name);
  }
}
