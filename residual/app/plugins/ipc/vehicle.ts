import { randomUUID } from 'node:crypto';
import { telemetryOf } from '../../../../shared/flight/telemetry-body.ts';
import type { MissionPart } from '../../../../shared/mission/item.ts';
import { type Client, clientOf } from '../../../../shared/rpc/contract.ts';
import { LINK, type LinkState, type MissionList } from '../../../../shared/rpc/link.ts';
import type { Topics } from './topics.ts';

export type Telemetry = Readonly<Record<string, unknown>>;

/** svc-link, as extensions see it: telemetry, lists of the mission, and the events that are made of its changes. */
export class Vehicle {
  readonly #client: Client<typeof LINK>;
  readonly #topics: Topics;
  readonly #listeners = new Set<(telemetry: () => Telemetry) => void>();
  #last: LinkState | null = null;

  constructor(linkSocket: string, topics: Topics) {
    this.#topics = topics;
    this.#client = clientOf(LINK, {
      path: linkSocket,
      listeners: { state: (state) => this.#heard(state) },
      onConnection: (connected) => {
        if (!connected) this.#last = null; // whatever changes meanwhile was not seen to change
      },
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  /** Calls at each change, at most ten times a second; the body is made when it is asked for. */
  follow(listener: (telemetry: () => Telemetry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws ApiError as the mission routes */
  async mission(part: MissionPart): Promise<MissionList> {
    return this.#client.calls.mission_read({ part, refresh: false, token: randomUUID() });
  }

  #heard(state: LinkState): void {
    const before = this.#last;
    this.#last = state;
    if (before !== null) this.#tell(before, state);
    let body: Telemetry | null = null;
    const telemetry = (): Telemetry => (body ??= telemetryOf(state));
    for (const listener of this.#listeners) listener(telemetry);
  }

  #tell(before: LinkState, now: LinkState): void {
    const { telemetry: was } = before;
    const { telemetry: is } = now;
    if (before.armed !== now.armed && now.armed !== 'unknown' && before.armed !== 'unknown')
      this.#topics.publish(now.armed ? 'vehicle.armed' : 'vehicle.disarmed', { mode: is.mode });
    if (was.mode !== is.mode && was.mode !== null && is.mode !== null)
      this.#topics.publish('vehicle.mode_changed', { from: was.mode, to: is.mode });
    if (was.fence !== null && is.fence !== null && !was.fence.breached && is.fence.breached)
      this.#topics.publish('vehicle.geofence_breach', { ...is.fence });
    if (was.mission.state !== is.mission.state && was.mission.state !== null) {
      if (is.mission.state === 'active') this.#topics.publish('mission.started', { ...is.mission });
      if (is.mission.state === 'complete') this.#topics.publish('mission.completed', { ...is.mission });
    }
  }
}
