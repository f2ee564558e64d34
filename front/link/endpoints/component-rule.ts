import { type Frame, frameAt } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { FeedComponent } from '../../../shared/rpc/feed.ts';
import { Encoder, type Target } from '../encode.ts';

/**
 * A peer that is one component of the vehicle's system: what it may send, and its heartbeat. Judged here, frame by frame as the
 * framer has cut them, since a client could put one frame into another.
 */
export class ComponentRule {
  readonly #component: FeedComponent;
  readonly #messages: ReadonlySet<number>;
  readonly #vehicle: () => Target | null;
  readonly #encoder: Encoder;

  constructor(component: FeedComponent, vehicle: () => Target | null) {
    this.#component = component;
    this.#messages = new Set(component.messages);
    this.#vehicle = vehicle;
    this.#encoder = new Encoder(component.id);
  }

  /** Whether a frame is one that this component may send. Its heartbeat is the node's to send. */
  allows(frame: Frame): boolean {
    return (
      frame.id !== MSG.HEARTBEAT &&
      frame.component === this.#component.id &&
      frame.system === this.#vehicle()?.system &&
      this.#messages.has(frame.id)
    );
  }

  /** Null before there is a vehicle. */
  heartbeat(): Frame | null {
    const vehicle = this.#vehicle();
    if (vehicle === null) return null;
    this.#encoder.system = vehicle.system;
    return frameAt(this.#encoder.heartbeat(this.#component.type));
  }
}
