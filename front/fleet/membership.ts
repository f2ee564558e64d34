import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../shared/config/schema.ts';
import type { FleetPlace, FleetUplink } from '../../shared/rpc/fleet.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { DiskQueue } from './disk-queue.ts';
import { FleetClient, type FleetClientOptions, type FleetLimits } from './fleet-client.ts';
import type { FleetLog } from './fleet-log.ts';
import { FlightFiles } from './flight-files.ts';
import { VehicleEvents } from './vehicle-events.ts';

/** What the queue remembers of the vehicle, for the next process. */
const VEHICLE_FACT = 'vehicle';

export interface MembershipOptions {
  readonly control: FleetClientOptions['control'];
  readonly queuePath: string;
  /** The folder with the flights that are to be told; absent: there are none. */
  readonly flights?: string;
  readonly config: Pick<Config['fleet'], 'telemetry_hz' | 'telemetry_fields' | 'queue_mb'>;
  readonly picture?: FleetClientOptions['picture'];
  /** Names this start of the node. */
  readonly run: string;
  readonly log: FleetLog;
  readonly limits?: Partial<FleetLimits>;
}

/** The node's part in one fleet, while it has one: client, queue, and the vehicle's events. */
export class Membership {
  readonly #options: MembershipOptions;
  #place: FleetPlace | null = null;
  #telemetryHz: number | null = null;
  #parts: {
    readonly client: FleetClient;
    readonly queue: DiskQueue;
    readonly events: VehicleEvents;
    readonly flights: FlightFiles | null;
  } | null = null;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Ends what there is and begins anew, unless it is the same place. @param place null: the node is in no fleet */
  async enter(place: FleetPlace | null): Promise<void> {
    if (isDeepStrictEqual(place, this.#place)) return;
    const stays = place !== null && (this.#parts?.client.renew(place) ?? false);
    this.#place = place;
    if (stays) return;
    await this.#end();
    if (place !== null) await this.#begin(place);
  }

  /** By what the node is connected; a change is an event, and what is open goes by the old uplink. */
  uplinkIs(uplink: FleetUplink): void {
    this.#telemetryHz = uplink.telemetry_hz;
    const client = this.#parts?.client;
    client?.limitTelemetry(uplink.telemetry_hz);
    if (uplink.change === null || client === undefined) return;
    client.append([{ at: Date.now(), kind: 'uplink.changed', detail: uplink.change }]);
    client.moved();
  }

  /** @param state null: svc-link is away */
  see(state: LinkState | null): void {
    this.#parts?.events.see(state);
  }

  async #end(): Promise<void> {
    const parts = this.#parts;
    if (parts === null) return;
    const { flights, client, queue } = parts;
    const flightsEnd = flights?.stop();
    await client.stop();
    await queue.close(); // a flight may wait for it
    await flightsEnd;
    this.#parts = null;
  }

  async #begin(place: FleetPlace): Promise<void> {
    const { control, queuePath, config, picture, run, log, limits } = this.#options;
    const wall = (): number => Date.now();
    const now = (): number => performance.now();
    const queue = new DiskQueue({
      path: queuePath,
      owner: `${place.fleet}/${place.node}`,
      maxBytes: config.queue_mb * 1_000_000,
      log,
      onChange: () => this.#parts?.client.look(),
    });
    await queue.start();
    const client = new FleetClient({
      place,
      control,
      queue,
      telemetryHz: config.telemetry_hz,
      telemetryFields: config.telemetry_fields,
      ...(picture === undefined ? {} : { picture }),
      log,
      random: Math.random,
      wall,
      now,
      ...(limits === undefined ? {} : { limits }),
    });
    const events = new VehicleEvents({
      run,
      kept: queue.fact(VEHICLE_FACT),
      append: (added, kept) => client.append(added, { [VEHICLE_FACT]: kept }),
      onChange: () => client.changed(),
      wall,
      now,
    });
    const { flights: directory } = this.#options;
    const flights =
      directory === undefined
        ? null
        : new FlightFiles({
            directory,
            queue,
            isConnected: () => client.connected,
            append: (event, stored) => client.append([event], {}, stored),
            log,
          });
    this.#parts = { client, queue, events, flights };
    client.limitTelemetry(this.#telemetryHz);
    client.start();
    flights?.start();
  }
}
