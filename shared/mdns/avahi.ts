import { instanceOf, nameAt, type Service, textsOf } from './records.ts';
import { SystemBus } from './system-bus.ts';

/** avahi-daemon publishes for this machine: two that answer for one machine would tread on each other. */

const AVAHI = 'org.freedesktop.Avahi';
const SERVER = { destination: AVAHI, path: '/', interface: `${AVAHI}.Server` };
const ANY = -1;
const NO_FLAGS = 0;
const [CLASS_IN, TYPE_CNAME] = [1, 5];
const TTL = 120;
/** Of an entry group. */
const [COLLISION, FAILURE] = [3, 4];
const MAX_TURN = 9;

export class Avahi {
  readonly #bus: SystemBus;
  readonly #group: string;
  /** The machine's own name, which avahi-daemon may change. */
  #fqdn = '';
  #services: readonly Service[] = [];
  #turn = 1;

  private constructor(bus: SystemBus, group: string) {
    this.#bus = bus;
    this.#group = group;
  }

  /** @throws if it does not run, or does not answer in time */
  static async open(path: string, uid: number): Promise<Avahi> {
    const bus = await SystemBus.open(path, uid);
    try {
      return new Avahi(bus, String(await bus.call({ ...SERVER, member: 'EntryGroupNew' })));
    } catch (error) {
      bus.close();
      throw error;
    }
  }

  /** From now on these. @throws if it refuses them, or has gone */
  async publish(services: readonly Service[]): Promise<void> {
    this.#services = services;
    this.#fqdn = await this.#hostName();
    await this.#ask('Reset');
    for (const service of services) {
      const [name = ''] = nameAt(instanceOf(service), this.#turn).split(`.${service.type}`);
      // At its own host name, whose addresses it keeps by itself.
      const values = [ANY, ANY, NO_FLAGS, name, service.type, 'local', '', service.port, textsOf(service)];
      await this.#ask('AddService', 'iiussssqaay', values);
    }
    const hosts = services.map(({ host }) => host).filter((host) => host !== null);
    for (const host of new Set(hosts)) {
      const alias = nameAt(host, this.#turn);
      if (alias.toLowerCase() === this.#fqdn.toLowerCase()) continue;
      const values = [ANY, ANY, NO_FLAGS, alias, CLASS_IN, TYPE_CNAME, TTL, wireName(this.#fqdn)];
      await this.#ask('AddRecord', 'iiusqquay', values);
    }
    if (services.length > 0) await this.#ask('Commit');
  }

  /** Takes other names where these are another machine's. @returns a sentence if it did. @throws if it has gone */
  async look(): Promise<string | null> {
    const state = await this.#ask('GetState');
    if (state === FAILURE || (state === COLLISION && this.#turn >= MAX_TURN))
      throw new Error('avahi-daemon cannot publish this node');
    if (state !== COLLISION) {
      if ((await this.#hostName()) !== this.#fqdn) await this.publish(this.#services);
      return null;
    }
    this.#turn++;
    await this.publish(this.#services);
    return 'another machine of this network has a name of this one: it has taken the next ones';
  }

  /** What it published ends with the connection. */
  close(): void {
    this.#bus.close();
  }

  async #hostName(): Promise<string> {
    return String(await this.#bus.call({ ...SERVER, member: 'GetHostNameFqdn' }));
  }

  async #ask(
    member: string,
    signature = '',
    values: Parameters<SystemBus['call']>[0]['values'] = [],
  ): ReturnType<SystemBus['call']> {
    const face = `${AVAHI}.EntryGroup`;
    return this.#bus.call({
      destination: AVAHI,
      path: this.#group,
      interface: face,
      member,
      signature,
      values,
    });
  }
}

/** A name as records have it. */
function wireName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([Buffer.byteLength(label)]), Buffer.from(label)]),
    Buffer.from([0]),
  ]);
}
