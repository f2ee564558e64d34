import { randomUUID } from 'node:crypto';
import { tellAll } from '../../../../shared/async/tell.ts';
import { telemetryOf } from '../../../../shared/flight/telemetry-body.ts';
import type { JsonObject } from '../../../../shared/member.ts';
import type { MissionPart } from '../../../../shared/mission/item.ts';
import type { ExtensionValues } from '../../../../shared/plugins/telemetry-values.ts';
import { type Client, clientOf } from '../../../../shared/rpc/contract.ts';
import { LINK, type LinkState, type MissionList } from '../../../../shared/rpc/link.ts';
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
  readonly #client: Client<typeof LINK>;
  readonly #listeners = new Set<(telemetry: () => Telemetry) => void>();

  constructor(linkSocket: string, topics: Pick<Topics, 'publish'>) {
    const events = new VehicleEvents((topic, payload) => topics.publish(topic, payload));
    this.#client = clientOf(LINK, {
      path: linkSocket,
      listeners: {
        state: (state) => {
          events.heard(state);
          this.#heard(state);
        },
      },
      onConnection: (connected) => {
        if (!connected) events.forget();
      },
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  follow(listener: (telemetry: () => Telemetry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async mission(part: MissionPart): Promise<MissionList> {
    return this.#client.calls.mission_read({ part, refresh: false, token: randomUUID() });
  }

  async extend(extension: string, values: ExtensionValues | null): Promise<unknown> {
    return this.#client.calls.extend({ extension, values });
  }

  #heard(state: LinkState): void {
    let body: Telemetry | null = null;
    const telemetry = (): Telemetry => (body ??= telemetryOf(state));
    tellAll('the telemetry', this.#listeners, telemetry);
  }
}
