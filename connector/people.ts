import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { deferred } from '../shared/async/deferred.ts';
import { every } from '../shared/async/every.ts';
import { within } from '../shared/async/within.ts';
import { messageOf } from '../shared/errors.ts';
import type { JsonObject } from '../shared/member.ts';
import { listOf, memberOf } from '../shared/member.ts';
import type { OperatorFiles } from '../shared/operator/operator-files.ts';
import type { Logger } from '../shared/process/logger.ts';
import { runServices } from '../shared/process/services.ts';
import { VERSION } from '../shared/version.ts';
import type { ConnectorAudit } from './audit/audit.ts';
import { type Authenticator, bearerOf } from './authenticate.ts';
import { Denial } from './denial.ts';
import { passingKeys } from './planes/caller-keys.ts';
import { FleetPlane } from './planes/fleet-plane.ts';
import { askHub, HubError, type HubPlace, hubUrl } from './planes/hub.ts';
import { HubSession } from './planes/hub-session.ts';
import type { Principal } from './principal.ts';
import type { ServerDeps } from './server.ts';
import { type Face, Serving } from './serving.ts';
import { type Settings, UsageError } from './settings.ts';
import type { HttpFace, ResourceMetadata } from './transports/http.ts';

const MAX_PEOPLE = 32;
/** Tokens that are known: each client of a person has one, and renews it. */
const MAX_TOKENS = 256;
const IDLE_MS = 600_000;
const LOOK_MS = 60_000;
const LIST_MS = 20_000;

interface PeopleOptions {
  readonly settings: Settings;
  readonly operator: OperatorFiles;
  readonly audit: ConnectorAudit;
  readonly faces: readonly HttpFace[];
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface Person {
  readonly principal: Principal;
  readonly plane: FleetPlane;
  readonly serving: Serving;
  /** The newest of their credentials counts. */
  readonly hub: { credential: string };
  readonly end: () => Promise<void>;
  usedAt: number;
}

/** A token that the hub took, until when (wall clock, ms). */
interface Taken {
  readonly person: Person;
  readonly until: number;
}

/** @throws UsageError for a hub that is away, or takes no tokens for our address */
export async function openPeople(options: PeopleOptions): Promise<People> {
  const { resource, gcs, cloudUrl, hubCa } = options.settings;
  try {
    const ca = hubCa === null ? undefined : readFileSync(hubCa, 'utf8');
    const hub: HubPlace = { url: hubUrl(gcs, cloudUrl), ca, credential: null };
    const provider = memberOf(await askHub(hub, '/v1/sign-in'), 'provider');
    const issuer = memberOf(provider, 'issuer');
    if (
      resource === null ||
      typeof issuer !== 'string' ||
      !listOf(memberOf(provider, 'resources')).includes(resource)
    )
      throw new Error(
        `The hub ${hub.url} takes no tokens for ${resource}: oidc.resources in its hub.yaml names it.`,
      );
    return new People(options, hub, {
      resource,
      authorization_servers: [issuer],
      scopes_supported: listOf(memberOf(provider, 'scopes')).map(String),
      bearer_methods_supported: ['header'],
      resource_name: 'svc: drones and ground stations of a fleet',
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/**
 * People of hosted AI clients, who bring access tokens of the hub's provider. The hub judges a token, and gives the person's own
 * credential for it; each person has a plane of their own, with which they can do what they can at the hub and no more. Tokens are
 * neither kept nor logged: they are known by their hashes.
 */
export class People implements Authenticator {
  readonly metadata: ResourceMetadata;
  readonly #options: PeopleOptions;
  readonly #hub: HubPlace;
  /** By id of the sign-in. */
  readonly #people = new Map<string, Person>();
  readonly #opening = new Map<string, Promise<Person>>();
  /** By hash of the token; the order is that in which they came. */
  readonly #tokens = new Map<string, Taken>();
  readonly #entering = new Map<string, Promise<Person>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: PeopleOptions, hub: HubPlace, metadata: ResourceMetadata) {
    const { settings, operator } = options;
    // Who stands by signs what they see coming; of the calls of many people that nobody here has asked for, each is signed by itself.
    const nobody = join(operator.directory, 'nobody');
    const each = {
      ...operator,
      presence: join(nobody, 'presence.json'),
      holdSocket: join(nobody, 'hold.sock'),
    };
    this.#options = { ...options, settings, operator: each };
    this.#hub = hub;
    this.metadata = metadata;
  }

  /** @throws Denial unauthorized, token_invalid, token_revoked, token_expired, rate_limited, rest_down */
  async authenticate(req: IncomingMessage): Promise<Principal> {
    const token = bearerOf(req, 'an access token of the provider');
    const key = createHash('sha256').update(token).digest('base64');
    const person = (await this.#known(key)) ?? (await this.#once(key, token));
    person.usedAt = this.#options.now();
    return person.principal;
  }

  /** @throws Denial token_revoked, token_expired */
  async confirm({ id }: Principal): Promise<void> {
    await this.#of(id).plane.session.confirm();
  }

  readonly depsOf = ({ id }: Principal): ServerDeps => this.#of(id).serving.deps;

  readonly health = async (): Promise<JsonObject & { readonly ok: boolean }> => {
    const problem = this.#options.audit.problem();
    const { size: people } = this.#people;
    return Promise.resolve({
      ok: problem === null,
      version: VERSION,
      mode: 'fleet',
      people,
      audit: problem === null,
    });
  };

  start(): void {
    this.#timer = every(LOOK_MS, 'people', async () => this.#endIdle());
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.allSettled(this.#opening.values());
    await Promise.all([...this.#people.values()].map(async (person) => this.#end(person)));
  }

  #of(id: string): Person {
    const person = this.#people.get(id);
    if (person === undefined) throw new Denial('token_revoked', 'This sign-in has ended. Sign in again.');
    return person;
  }

  /** Who came with this token before, and still may; null: the hub is to say. */
  async #known(key: string): Promise<Person | null> {
    const { person, until } = this.#tokens.get(key) ?? {};
    if (person === undefined || until === undefined) return null;
    if (Date.now() < until && this.#people.get(person.principal.id) === person) {
      try {
        await person.plane.session.confirm();
        return person;
      } catch (error) {
        if (!(error instanceof Denial)) throw error;
        await this.#end(person);
      }
    }
    this.#tokens.delete(key);
    return null;
  }

  /** Several requests with a new token wait for one answer. */
  async #once(key: string, token: string): Promise<Person> {
    const entering =
      this.#entering.get(key) ??
      this.#enter(key, token).finally(() => {
        this.#entering.delete(key);
      });
    this.#entering.set(key, entering);
    return entering;
  }

  async #enter(key: string, token: string): Promise<Person> {
    const { id, credential, until } = await this.#signIn(token);
    await this.#opening.get(id)?.catch(() => undefined); // whoever opens it is told
    const known = this.#people.get(id);
    let person: Person;
    if (known === undefined) {
      const opening = this.#open(id, credential).finally(() => {
        this.#opening.delete(id);
      });
      this.#opening.set(id, opening);
      person = await opening;
    } else {
      known.hub.credential = credential;
      known.plane.session.replaced();
      await known.plane.session.confirm();
      person = known;
    }
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size >= MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    this.#tokens.set(key, { person, until });
    return person;
  }

  /** @throws Denial */
  async #signIn(
    token: string,
  ): Promise<{ readonly id: string; readonly credential: string; readonly until: number }> {
    const { resource } = this.metadata;
    const answer = await askHub(this.#hub, '/v1/sign-in/token', { body: { token, resource } }).catch(
      (error: unknown) => {
        throw error instanceof HubError ? denialOf(error) : error;
      },
    );
    const [id, credential, until] = ['id', 'credential', 'expires_at'].map((name) => memberOf(answer, name));
    if (typeof id === 'string' && typeof credential === 'string' && typeof until === 'number')
      return { id, credential, until };
    throw new Denial('rest_down', "The hub's answer to the sign-in is not as expected.");
  }

  /** @throws Denial */
  async #open(id: string, credential: string): Promise<Person> {
    await this.#makeRoom();
    const { settings, operator, audit, faces, now, log } = this.#options;
    const hub = { ...this.#hub, credential };
    try {
      const person = String(memberOf(await askHub(hub, '/v1/me'), 'name'));
      const keys = await passingKeys();
      const wall = Date.now;
      const session = await HubSession.open({ hub, person, keys, now, wall, log });
      const plane = new FleetPlane({ hub, session, brokerUrl: null, operator, now, wall, log });
      plane.start();
      await within(plane.listed, LIST_MS, () => new HubError(null, 'The hub does not list its nodes.')).catch(
        (error: unknown) => {
          plane.stop();
          throw error;
        },
      );
      const { principal } = session;
      const confirm = async (): Promise<void> => session.confirm();
      const own = faces.map((face) => ownFace(face, id));
      const serving = new Serving({
        settings,
        operator,
        plane,
        launched: principal,
        confirm,
        audit,
        faces: own,
        log,
      });
      const ending = new AbortController();
      const ready = deferred();
      const problem = (sentence: string): void => void log.warn(`${id}: ${sentence}`);
      const ended = runServices(serving.services, ending.signal, ready.resolve, problem);
      await Promise.race([ready.promise, ended]);
      const end = async (): Promise<void> => {
        ending.abort();
        await ended;
      };
      const opened: Person = { principal, plane, serving, hub, end, usedAt: now() };
      this.#people.set(id, opened);
      return opened;
    } catch (error) {
      throw error instanceof HubError ? denialOf(error) : error;
    }
  }

  async #makeRoom(): Promise<void> {
    if (this.#people.size + this.#opening.size < MAX_PEOPLE) return;
    const [oldest] = [...this.#people.values()]
      .filter((person) => !this.#isBusy(person))
      .toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest === undefined)
      throw new Denial('rate_limited', 'Many people use this connector. Try again later.');
    await this.#end(oldest);
  }

  #isBusy({ principal }: Person): boolean {
    return this.#options.faces.some((face) => face.isBusy(principal));
  }

  async #endIdle(): Promise<void> {
    const before = this.#options.now() - IDLE_MS;
    for (const person of this.#people.values())
      if (person.usedAt < before && !this.#isBusy(person)) await this.#end(person);
  }

  async #end(person: Person): Promise<void> {
    const { principal } = person;
    if (this.#people.get(principal.id) !== person) return;
    this.#people.delete(principal.id);
    for (const [key, taken] of this.#tokens) if (taken.person === person) this.#tokens.delete(key);
    await Promise.all(this.#options.faces.map(async (face) => face.forget(principal)));
    await person.end();
  }
}

/** As much of a face as is of one person. */
function ownFace(face: HttpFace, id: string): Face {
  return {
    get listeners() {
      return face.listeners.filter(({ principal }) => principal.id === id);
    },
    notify: (what) => face.notify(what, id),
  };
}

function denialOf({ status, body, message }: HubError): Denial {
  const detail = memberOf(body, 'detail');
  const said = typeof detail === 'string' ? detail : message;
  if (status === 400 || status === 401 || status === 403 || status === 422)
    return new Denial('token_invalid', said);
  return new Denial(
    status === 429 || memberOf(body, 'code') === 'E_BUSY' ? 'rate_limited' : 'rest_down',
    said,
  );
}
