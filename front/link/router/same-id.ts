import type { Frame } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT } from '../../../shared/mavlink/message-classes.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import { OWN_COMPONENT } from '../encode.ts';
import type { Part } from '../part.ts';
import { isCommand } from './arming-command.ts';

/** An echo that the loop guard let through is one frame; another program goes on. */
const FRAMES = 3;
const WITHIN_MS = 10_000;
/** As long as it stays known after its newest frame. */
const PRESENT_MS = 30_000;

/** Whether another program speaks with our own ids: the vehicle answers both of us, and nobody can tell the answers apart. */
export class SameId implements Part {
  readonly #clock: Clock;
  readonly #ownSystem: () => number;
  readonly #othersCommand: (command: number) => void;
  readonly #payload = new Payload();
  #at = -Infinity;
  #count = 0;

  /**
   * @param ownSystem the system id that we send as
   * @param othersCommand gets each MAV_CMD that it has sent to the vehicle
   */
  constructor(clock: Clock, ownSystem: () => number, othersCommand: (command: number) => void) {
    this.#clock = clock;
    this.#ownSystem = ownSystem;
    this.#othersCommand = othersCommand;
  }

  /** A frame that is no echo of ours. @returns whether it calls itself ours */
  onFrame({ system, component }: Frame): boolean {
    if (component !== OWN_COMPONENT || system !== this.#ownSystem()) return false;
    const now = this.#clock.now();
    this.#count = now - this.#at < WITHIN_MS ? this.#count + 1 : 1;
    this.#at = now;
    return true;
  }

  onForwarded(frame: Frame): void {
    if (this.onFrame(frame) && isCommand(frame.id))
      this.#othersCommand(this.#payload.load(frame).u16(COMMAND_AT));
  }

  problems(): LinkProblem[] {
    if (this.#count < FRAMES || this.#clock.now() - this.#at >= PRESENT_MS) return [];
    const detail = `Another program speaks as system ${this.#ownSystem()}, component ${OWN_COMPONENT}, which is this node: what the vehicle answers may be for either. Give the other program another component id.`;
    return [{ code: 'same_id', detail }];
  }
}
