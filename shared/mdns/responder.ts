import { hostname, networkInterfaces } from 'node:os';
import { codeOf } from '../errors.ts';
import { type Clock, LinkResponder } from './link-responder.ts';
import { type Bounds, LinkSocket, type Sender } from './link-socket.ts';
import { type Link, linksOf } from './links.ts';
import { instanceOf, keyOf, nameAt, recordsOf, type Service } from './records.ts';

/** Makes services known on every link of this machine, as these come and go. */

const BOUNDS: Bounds = { each: { perSecond: 50, burst: 100 }, all: { perSecond: 200, burst: 400 } };
/** Whoever takes so many names of this machine takes every name. */
const MAX_TURN = 9;
/** A goodbye that cannot be sent delays no end. */
const GOODBYE_MS = 300;

/** One family of addresses on one link: by RFC 6762, 20 the two know nothing of each other. */
interface OnLink {
  readonly link: Link;
  readonly socket: LinkSocket;
  readonly responder: LinkResponder;
  isReady: boolean;
}

const FAMILIES = [4, 6] as const;
type Family = (typeof FAMILIES)[number];

function faceOf({ key }: Link, family: Family): string {
  return `${family} ${key}`;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  random: Math.random,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export class Responder {
  readonly #links = new Map<string, OnLink>();
  readonly #tell: (sentence: string) => void;
  #services: readonly (Service & { readonly host: string })[] = [];
  /** Which name is taken of those that may follow a first one. */
  readonly #turns = new Map<string, number>();
  /** Names that are kept, whoever says they have them. */
  readonly #kept = new Set<string>();
  #own: ReadonlySet<string> = new Set();

  /** @param tell what an operator may want to know */
  constructor(tell: (sentence: string) => void) {
    this.#tell = tell;
  }

  publish(services: readonly Service[]): void {
    // The system's own name may be one of a domain.
    const own = `${hostname().split('.')[0] ?? 'localhost'}.local`;
    this.#services = services.map((service) => ({ ...service, host: service.host ?? own }));
    this.#publish();
  }

  /** Follows links and addresses that came or went. @throws if they cannot be read */
  look(): void {
    const faces = new Map(
      linksOf(networkInterfaces()).flatMap((link) =>
        FAMILIES.filter((family) => link[`v${family}`].length > 0).map((family) => [
          faceOf(link, family),
          { link, family },
        ]),
      ),
    );
    for (const [key, { socket, responder }] of this.#links)
      if (!faces.has(key)) {
        this.#links.delete(key);
        responder.stop(() => undefined); // nobody is there to be told
        socket.close();
      }
    for (const [key, { link, family }] of faces) if (!this.#links.has(key)) this.#open(link, family);
  }

  async stop(): Promise<void> {
    const all = [...this.#links.values()];
    this.#links.clear();
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, GOODBYE_MS);
    });
    const said = all.map(async ({ responder }) => new Promise<void>((resolve) => responder.stop(resolve)));
    await Promise.race([Promise.all(said), late]);
    for (const { socket } of all) socket.close();
  }

  #open(link: Link, family: Family): void {
    const key = faceOf(link, family);
    const responder = new LinkResponder({
      clock: CLOCK,
      send: (packet, to, done) => socket.send(packet, to, done),
      isOwn: (record) => this.#own.has(keyOf(record)) || this.#kept.has(record.name.toLowerCase()),
      onTaken: (name) => this.#giveUp(name),
    });
    const socket = new LinkSocket(
      {
        link,
        family,
        bounds: BOUNDS,
        now: CLOCK.now,
        onPacket: (packet, from) => responder.heard(packet, from, this.#isSelf(from)),
        onError: (error) => this.#onError(key, link, error),
      },
      () => {
        open.isReady = true;
        this.#publish();
      },
    );
    const open: OnLink = { link, socket, responder, isReady: false };
    this.#links.set(key, open);
  }

  /** It is begun anew at the next look: names that nobody could be asked for are no names yet. */
  #onError(key: string, { name }: Link, error: unknown): void {
    const open = this.#links.get(key);
    if (open === undefined) return;
    // A new address of IPv6 is not the link's before nobody else has said that it is theirs.
    if (codeOf(error) !== 'EADDRNOTAVAIL') this.#tell(`on ${name}: ${String(error)}`);
    this.#links.delete(key);
    open.responder.stop(() => undefined);
    open.socket.close();
  }

  #isSelf({ address }: Sender): boolean {
    const [plain = ''] = address.split('%', 1);
    return [...this.#links.values()].some(({ link: { v4, v6 } }) => v4.includes(plain) || v6.includes(plain));
  }

  #publish(): void {
    const turn = (name: string): number => this.#turns.get(name) ?? 1;
    const all = [...this.#links.values()].map((open) => ({
      open,
      records: recordsOf(this.#services, open.link, turn),
    }));
    this.#own = new Set(all.flatMap(({ records }) => records.map(keyOf)));
    for (const { open, records } of all) if (open.isReady) open.responder.publish(records);
  }

  #giveUp(name: string): void {
    const turnOf = (first: string): number => this.#turns.get(first) ?? 1;
    const first = this.#services
      .flatMap((each) => [each.host, instanceOf(each)])
      .find((each) => nameAt(each, turnOf(each)) === name);
    if (first === undefined) return;
    const turn = turnOf(first) + 1;
    this.#turns.set(first, turn > MAX_TURN ? 1 : turn);
    if (turn > MAX_TURN) this.#kept.add(first.toLowerCase());
    this.#tell(
      turn > MAX_TURN
        ? `another machine says that every name is its own; this one stays ${first}`
        : `another machine of this network is ${name}: this one has taken the next name`,
    );
    this.#publish();
  }
}
