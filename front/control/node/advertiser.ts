import { Bonjour, type Service } from 'bonjour-service';
import { contained, every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Base } from './base.ts';
import { ownHostOf } from './identity.ts';

/** Makes the node known on its networks as `_svc._tcp` by mDNS (RFC 6762, 6763). */

interface AdvertiserOptions {
  /** Where the API is served, by the time of the start. */
  readonly port: () => number;
  readonly deviceId: string;
  readonly name: string;
  /** `svc-xxxxxx.local` */
  readonly host: string;
  /** What its name makes of it, `field-drone.local`; or the same as `host`. */
  readonly ownHost: string;
  readonly profile: string;
  readonly version: string;
  readonly paired: () => boolean;
  /** Of HTTPS: its port, and the SHA-256 of the authority, hex; null for none. */
  readonly tls: { readonly port: number | null; readonly fingerprint: string | null };
  readonly log: Logger;
}

const LOOK_MS = 2000;
/** 16 bytes, hex. */
const TLSFP_DIGITS = 32;

/**
 * The library reads the network interfaces every 5 s from its own timer, and throws if no file descriptor is left. This wrapper
 * catches that.
 */
function containUpdates(bonjour: Bonjour): void {
  const { mdns } = (bonjour as unknown as { readonly server: { readonly mdns: { update: () => void } } })
    .server;
  mdns.update = contained('mDNS', mdns.update);
}

class Advertiser {
  readonly #options: AdvertiserOptions;
  #bonjour: Bonjour | null = null;
  #service: Service | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** What the record said when it was published last. */
  #said = '';
  #complained = false;

  constructor(options: AdvertiserOptions) {
    this.#options = options;
  }

  /** Without a multicast network nobody can find this machine by mDNS: logged once, and the node goes on. */
  start(): void {
    this.#bonjour = new Bonjour({}, (error: unknown) => this.#complain(error));
    containUpdates(this.#bonjour);
    contained('mDNS', () => this.#look())();
    contained('mDNS', () => this.#publishPage())();
    this.#timer = every(LOOK_MS, 'mDNS', () => this.#look());
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    const bonjour = this.#bonjour;
    this.#bonjour = null;
    if (bonjour === null) return;
    // A goodbye that cannot be sent must not delay the shutdown.
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, 500);
      bonjour.unpublishAll(() => {
        clearTimeout(late);
        resolve();
      });
    });
    bonjour.destroy();
  }

  /** The page under the node's own name, which a browser can then be given. */
  #publishPage(): void {
    const { port, name, host, ownHost } = this.#options;
    if (ownHost === host) return;
    const page = { name, type: 'http', protocol: 'tcp', port: port(), host: ownHost, probe: false } as const;
    this.#bonjour?.publish(page).on('error', (error: unknown) => this.#complain(error));
  }

  /** The record says whether the node is paired, and how it is reached by HTTPS; it is published again when that changes. */
  #look(): void {
    const { port, deviceId, name, host, profile, version, paired, tls } = this.#options;
    const txt = {
      device_id: deviceId,
      name,
      version,
      profile,
      paired: String(paired()),
      ...(tls.port === null ? {} : { tls: String(tls.port) }),
      ...(tls.fingerprint === null ? {} : { tlsfp: tls.fingerprint.slice(0, TLSFP_DIGITS) }),
    };
    const said = JSON.stringify(txt);
    if (this.#bonjour === null || said === this.#said) return;
    const publish = (): void => {
      if (this.#bonjour === null) return;
      this.#service = this.#bonjour.publish({
        name: `svc ${deviceId}`,
        type: 'svc',
        protocol: 'tcp',
        port: port(),
        host,
        probe: false, // the device id makes the name unique
        txt,
      });
      this.#service.on('error', (error: unknown) => this.#complain(error));
      this.#said = said;
    };
    if (this.#service === null) publish();
    else this.#service.stop?.(contained('mDNS', publish));
  }

  #complain(error: unknown): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#options.log.warn(`mDNS: ${messageOf(error)}`);
  }
}

/** The node, as its networks see it. */
export function openAdvertiser(
  { identity, config, profile, log }: Base,
  parts: Pick<AdvertiserOptions, 'port' | 'paired' | 'tls'>,
): Advertiser {
  const { device_id: deviceId, name, mdns_host: host } = identity;
  const ownHost = ownHostOf(deviceId, config.agent.name);
  return new Advertiser({ ...parts, deviceId, name, host, ownHost, profile, version: VERSION, log });
}
