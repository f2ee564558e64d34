import type { Timer } from './clock.ts';
import { OwnHeartbeat } from './own-heartbeat.ts';
import type { SessionReason } from './part.ts';
import { type LinkOptions, openParts, type Parts } from './parts.ts';
import { linkState } from './state.ts';

const TICK_MS = 100;

/** svc-link in time: its parts are started, told of the vehicle, asked a few times a second whether something is due, and stopped. */
export class Link {
  readonly parts: Parts;
  readonly #heartbeat: OwnHeartbeat;
  #timer: Timer | null = null;

  constructor(options: LinkOptions) {
    this.parts = openParts(options);
    const { clock, transport, send, encoder, replies, router, camera } = this.parts;
    this.#followVehicle();
    this.#heartbeat = new OwnHeartbeat(clock, () => {
      if (transport.open) send(encoder.heartbeat());
      const { heartbeat = 'auto' } = options;
      const isCamera = camera.beat();
      // A program that takes the first heartbeat for the vehicle's reads "disarmed" in ours. The vehicle does not send it back either.
      if (heartbeat === 'on' || (heartbeat === 'auto' && isCamera)) router.broadcast(replies.heartbeat());
    });
  }

  start(): void {
    const { clock, feed, transport, intake, list } = this.parts;
    feed.start(() => linkState(this.parts));
    transport.start(intake);
    for (const part of list) part.start?.();
    this.#heartbeat.start();
    this.#timer = clock.every(TICK_MS, () => {
      for (const part of list) part.tick?.();
    });
  }

  async stop(): Promise<void> {
    const { feed, transport, intake, list } = this.parts;
    this.#timer?.cancel();
    feed.stop();
    this.#heartbeat.stop();
    for (const part of list) part.stop?.();
    await transport.stop();
    for (const part of list) await part.settled?.();
    intake.stop();
  }

  #followVehicle(): void {
    const { vehicle, texts, feed, list } = this.parts;
    vehicle.listen({
      onSession: (reason) => this.#begin(reason),
      onHeartbeat: () => {
        for (const part of list) part.onHeartbeat?.();
      },
      onArmedChange: () => feed.importantChanged(),
      onTelemetry: (id) => {
        for (const part of list) part.onTelemetry?.(id);
      },
      onVersion: () => {
        for (const part of list) part.onVersion?.();
      },
      onStatusText: (text, component) => texts.add(text, component),
      onOther: (id) => {
        for (const part of list) part.onOther?.(id);
      },
    });
    texts.listen((line) => {
      for (const part of list) part.onLine?.(line);
    });
  }

  #begin(reason: SessionReason): void {
    const { log, vehicle, encoders, list } = this.parts;
    const { target } = vehicle;
    if (target === null) return;
    for (const encoder of encoders) encoder.system = target.system;
    log.info(`vehicle ${target.system}/${target.component} ${reason}`);
    for (const part of list) part.onSession?.(reason);
  }
}
