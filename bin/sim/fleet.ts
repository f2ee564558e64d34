import type { Logger } from '../../shared/process/logger.ts';
import type { AutopilotOptions } from './autopilot.ts';
import type { LinkChoice, SimOptions } from './options/options.ts';
import { SerialLink } from './transports/serial-link.ts';
import { SimServer } from './transports/server.ts';
import type { ClientEvents, LinkAddress, SimLink } from './transports/sim-link.ts';
import { UdpLink } from './transports/udp-link.ts';
import { Unit } from './unit.ts';

const SPACING = 1 / 5566; // degrees of longitude at the equator: 20 m

/** The vehicles of this process with their links: a link for each, or one that all of them share like a radio channel. */
export class Fleet {
  readonly #units: readonly Unit[];
  readonly #links: readonly SimLink[];

  /** @param deviceGone called when the serial device is taken away */
  constructor(options: SimOptions, log: Logger, deviceGone: () => void) {
    const { seed, faults, link } = options;
    const count = Array.from({ length: options.fleet }, (_, i) => i);
    if (options.shared) {
      // Nobody hangs up: the others are on the line too.
      const units = count.map((i) => new Unit(nth(options.autopilot, i), seed + i, faults, () => undefined));
      this.#units = units;
      this.#links = [open(log, link, together(units), deviceGone)];
      return;
    }
    const pairs = count.map((i) => {
      const unit: Unit = new Unit(nth(options.autopilot, i), seed + i, faults, () => own.hangUp());
      const own = open(log, nthLink(link, i), unit.events, deviceGone);
      return { unit, own };
    });
    this.#units = pairs.map(({ unit }) => unit);
    this.#links = pairs.map(({ own }) => own);
  }

  /** @returns where the links are, in the order of the system ids */
  async start(): Promise<readonly LinkAddress[]> {
    const addresses: LinkAddress[] = [];
    for (const link of this.#links) addresses.push(await link.start());
    for (const unit of this.#units) unit.start();
    return addresses;
  }

  reboot(): void {
    for (const unit of this.#units) unit.reboot();
  }

  /** The faults have changed. */
  soon(): void {
    for (const unit of this.#units) unit.soon();
  }

  async stop(): Promise<void> {
    for (const unit of this.#units) unit.stop();
    await Promise.all(this.#links.map((link) => link.stop()));
  }
}

function together(units: readonly Unit[]): ClientEvents {
  return {
    connected: (sink) => {
      for (const unit of units) unit.events.connected(sink);
    },
    received: (frame) => {
      for (const unit of units) unit.events.received(frame);
    },
  };
}

// The next vehicle stands 20 m east of the one before.
function nth(first: AutopilotOptions, i: number): AutopilotOptions {
  const { home } = first;
  const lon = home.lon + (i * SPACING) / Math.max(0.01, Math.cos((home.lat * Math.PI) / 180));
  return { ...first, sysid: first.sysid + i, uid: first.uid + i, home: { ...home, lon } };
}

function nthLink(link: LinkChoice, i: number): LinkChoice {
  return link.kind === 'tcp' && link.port !== 0 ? { ...link, port: link.port + i } : link;
}

function open(log: Logger, link: LinkChoice, events: ClientEvents, deviceGone: () => void): SimLink {
  switch (link.kind) {
    case 'tcp':
      return new SimServer(log, link, events);
    case 'udp':
      return new UdpLink(log, link, events);
    case 'serial':
      return new SerialLink(log, link, events, deviceGone);
  }
}
