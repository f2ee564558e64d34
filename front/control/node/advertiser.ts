import { every } from '../../../shared/async/every.ts';
import { Announcer } from '../../../shared/mdns/announcer.ts';
import type { Service } from '../../../shared/mdns/records.ts';
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
  /** Of D-Bus, where avahi-daemon is. */
  readonly busAddress: string | undefined;
  readonly log: Logger;
}

const LOOK_MS = 2000;
/** 16 bytes, hex. */
const TLSFP_DIGITS = 32;

class Advertiser {
  readonly #options: AdvertiserOptions;
  readonly #announcer: Announcer;
  #timer: NodeJS.Timeout | null = null;
  /** What was published last. */
  #said = '';

  constructor(options: AdvertiserOptions) {
    this.#options = options;
    this.#announcer = new Announcer((sentence) => options.log.warn(sentence), options.busAddress);
  }

  /** Without a multicast network nobody can find this machine by mDNS: logged once, and the node goes on. */
  start(): void {
    this.#look();
    this.#announcer.start();
    this.#timer = every(LOOK_MS, 'mDNS', () => this.#look());
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#announcer.stop();
  }

  /** The record says whether the node is paired, and how it is reached by HTTPS; it is published again when that changes. */
  #look(): void {
    const services = this.#services();
    const said = JSON.stringify(services);
    if (said === this.#said) return;
    this.#said = said;
    this.#announcer.publish(services);
  }

  #services(): readonly Service[] {
    const { port, deviceId, name, host, ownHost, profile, version, paired, tls } = this.#options;
    const txt = {
      device_id: deviceId,
      name,
      version,
      profile,
      paired: String(paired()),
      ...(tls.port === null ? {} : { tls: String(tls.port) }),
      ...(tls.fingerprint === null ? {} : { tlsfp: tls.fingerprint.slice(0, TLSFP_DIGITS) }),
    };
    const node: Service = { name: `svc ${deviceId}`, type: '_svc._tcp', port: port(), host, txt };
    if (ownHost === host) return [node];
    // The page under the node's own name, which a browser can then be given.
    return [node, { name, type: '_http._tcp', port: port(), host: ownHost, txt: {} }];
  }
}

/** The node, as its networks see it. */
export function openAdvertiser(
  { identity, config, profile, env, log }: Base,
  parts: Pick<AdvertiserOptions, 'port' | 'paired' | 'tls'>,
): Advertiser {
  const { device_id: deviceId, name, mdns_host: host } = identity;
  const ownHost = ownHostOf(deviceId, config.agent.name);
  const busAddress = env['DBUS_SYSTEM_BUS_ADDRESS'];
  return new Advertiser({
    ...parts,
    deviceId,
    name,
    host,
    ownHost,
    profile,
    version: VERSION,
    busAddress,
    log,
  });
}
