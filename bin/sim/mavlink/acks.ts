import type { Faults } from '../faults.ts';
import { MavResult } from '../mavlink-values.ts';
import type { Timers } from '../timers.ts';
import type { Channel } from './channel.ts';
import { CommandAck } from './messages.ts';
import type { Peer } from './mission-link.ts';

const DO_SET_MODE = 176;
const IN_PROGRESS_MS = 300; // until the final ack, where no other delay is set

/** Sends COMMAND_ACKs, and loses, delays and precedes them as the faults say. */
export class Acks {
  readonly #channel: Channel;
  readonly #faults: Faults;
  readonly #timers: Timers;

  constructor(channel: Channel, faults: Faults, timers: Timers) {
    this.#channel = channel;
    this.#faults = faults;
    this.#timers = timers;
  }

  send(command: number, result: MavResult, peer: Peer): void {
    const { inProgress, ackDelay, doubleAck } = this.#faults;
    // PX4's receiver takes every mode; its commander's verdict comes second.
    if (doubleAck && command === DO_SET_MODE) this.#one(command, MavResult.ACCEPTED, peer);
    if (inProgress) this.#one(command, MavResult.IN_PROGRESS, peer);
    const delay = ackDelay > 0 ? ackDelay : inProgress ? IN_PROGRESS_MS : 0;
    if (delay > 0) this.#timers.after(delay, () => this.#one(command, result, peer));
    else this.#one(command, result, peer);
  }

  #one(command: number, result: MavResult, peer: Peer): void {
    if (this.#faults.loseAcks > 0) {
      this.#faults.loseAcks--;
      return;
    }
    this.#channel.send(CommandAck, {
      command,
      result,
      targetSystem: peer.sysid,
      targetComponent: peer.compid,
    });
  }
}
