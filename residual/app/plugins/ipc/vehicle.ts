import { randomUUID } from 'node:crypto';
import { tellAll } from '../../../../shared/async/tell.ts';
import type { JsonObject } from '../../../../shared/member.ts';
import type { MissionList } from '../../../../shared/rpc/link-answers.ts';
import type { LinkState } from '../../../../shared/rpc/link-state.ts';
import { telemetryOf } from '../../../../shared/rpc/telemetry-body.ts';
import type { ExtensionValues } from '../../../../shared/schemas/extension-values.ts';
import type { MissionPart } from '../../../../shared/schemas/mission-item.ts';
import type { LinkConnection } from '../../link-connection.ts';
import type { Topics } from './topics.ts';
import { VehicleEvents } from './vehicle-events.ts';

export type Telemetry = JsonObject;

/** The vehicle, as extensions see it. */
export interface Vehicle {
  /** Calls at each change, at most ten times a second; the body is made when it is asked for. @returns how to end it */
  follow(listener: (telemetry: () => Telemetry) => void): () => void;
  /** @throws ApiError as the mission routes */
  mission(part: MissionPart): Promise<MissionList>;
  /** Shows what an extension adds to the telemetry; null: nothing any more. @throws ApiError E_BUSY, E_UPSTREAM_DOWN */
  extend(extension: string, values: ExtensionValues | null): Promise<unknown>;
}

/** svc-link, as extensions see it: telemetry, lists of the mission, and the events that are made of its changes. */
export class LinkVehicle implements Vehicle {
  readonly #link: LinkConnection;
  readonly #events: VehicleEvents;
  #unfollow: (() => void) | null = null;
  readonly #listeners = new Set<(telemetry: () => Telemetry) => void>();

  constructor(link: LinkConnection, topics: Pick<Topics, 'publish'>) {
    this.#link = link;
    this.#events = new VehicleEvents((topic, payload) => topics.publish(topic, payload));
  }

  start(): void {
    this.#unfollow = this.#link.follow({
      state: (state) => {
        this.#events.heard(state);
        this.#heard(state);
      },
      connection: (connected) => {
        if (!connected) this.#events.forget();
      },
    });
  }

  stop(): void {
    this.#unfollow?.();
  }

  follow(listener: (telemetry: () => Telemetry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async mission(part: MissionPart): Promise<MissionList> {
    return this.#link.calls.mission_read({ part, refresh: false, token: randomUUID() });
  }

  async extend(extension: string, values: ExtensionValues | null): Promise<unknown> {
    return this.#link.calls.extend({ extension, values });
  }

  #heard(state: LinkState): void {
    let body: Telemetry | null = null;
    const telemetry = (): Telemetry => (body ??= telemetryOf(state));
    tellAll('the telemetry', this.#listeners, telemetry);
  }
}
