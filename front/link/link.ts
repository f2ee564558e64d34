import type { Timer } from './clock.ts';
import { OwnHeartbeat } from './own-heartbeat.ts';
import { type LinkOptions, openParts, type Parts } from './parts.ts';
import { followVehicle } from './session.ts';
import { linkState } from './state.ts';

const TICK_MS = 100;

/** svc-link in time: its parts are started, asked a few times a second whether something is due, and stopped. */
export class Link {
  readonly parts: Parts;
  readonly #heartbeat: OwnHeartbeat;
  #timer: Timer | null = null;

  constructor(options: LinkOptions) {
    this.parts = openParts(options);
    const { clock, transport, send, encoder, replies, router, camera } = this.parts;
    followVehicle(this.parts);
    this.#heartbeat = new OwnHeartbeat(clock, () => {
      if (transport.open) send(encoder.heartbeat());
      const { heartbeat = 'auto' } = options;
      const isCamera = camera.beat();
      // A program that takes the first heartbeat for the vehicle's reads "disarmed" in ours. The vehicle does not send it back either.
      if (heartbeat === 'on' || (heartbeat === 'auto' && isCamera)) router.broadcast(replies.heartbeat());
    });
  }

  start(): void {
    const { clock, feed, transport, intake, corrections } = this.parts;
    feed.start(() => linkState(this.parts));
    transport.start(intake);
    corrections?.start();
    this.#heartbeat.start();
    this.#timer = clock.every(TICK_MS, () => this.#tick());
  }

  async stop(): Promise<void> {
    const {
      corrections,
      logs,
      feed,
      streams,
      missions,
      calibration,
      camera,
      exchange,
      transport,
      store,
      intake,
      tlog,
    } = this.parts;
    this.#timer?.cancel();
    corrections?.stop();
    logs?.stop();
    feed.stop();
    this.#heartbeat.stop();
    streams.stop();
    missions.stop();
    calibration.stop();
    camera.stop();
    exchange.stop();
    await transport.stop();
    await tlog.stop();
    await store?.settled();
    intake.stop();
  }

  #tick(): void {
    const {
      asking,
      texts,
      streams,
      params,
      ftp,
      metadata,
      logs,
      offboard,
      manual,
      tlog,
      remoteId,
      warnings,
      vehicle,
      calibration,
    } = this.parts;
    texts.tick();
    asking.tick();
    streams.tick();
    params.tick();
    ftp.tick();
    metadata.tick(params.progress.priming);
    logs?.tick();
    offboard.tick();
    manual.tick();
    tlog.tick();
    remoteId.tick();
    warnings.look(vehicle.telemetry);
    calibration.tick();
  }
}
