import type { NodeEntry } from '../../shared/fleet/hub-api.ts';
import type { OperatorFiles } from '../../shared/operator/operator-files.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import type { Principal } from '../principal.ts';
import { FleetCaller } from './fleet-caller.ts';
import { FleetNode } from './fleet-node.ts';
import { FleetNodes } from './fleet-nodes.ts';
import { askHub, HubError, type HubPlace } from './hub.ts';
import { carriedBy } from './hub-carrier.ts';
import type { HubSession } from './hub-session.ts';
import { choose, type Plane } from './plane.ts';

interface FleetPlaneOptions {
  readonly hub: HubPlace;
  readonly session: HubSession;
  /** SVC_MQTT_URL, instead of what the hub says. */
  readonly brokerUrl: string | null;
  readonly operator: OperatorFiles;
  /** Steady, and wall clock, ms. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly log: Logger;
}

/** The nodes of a fleet that a credential may reach: listed by the hub, called over the broker, or by the hub for a person. */
export class FleetPlane implements Plane {
  readonly mode = 'fleet';
  readonly session: HubSession;
  readonly caller: FleetCaller;
  /** Nodes came, went, or have another name. */
  onChange: () => void = () => undefined;
  readonly #options: FleetPlaneOptions;
  readonly #directory: FleetNodes;
  /** One client a node, so that what is known of it stays. */
  readonly #clients = new Map<string, FleetNode>();

  constructor(options: FleetPlaneOptions) {
    const { hub, session, brokerUrl, now, log } = options;
    this.#options = options;
    this.session = session;
    this.#directory = new FleetNodes({
      hub,
      allowed: () => session.reach,
      onEntry: ({ id, status }) => {
        const nonce = status?.['nonce'];
        if (typeof nonce === 'string') this.caller.learn(id, nonce);
      },
      onChange: () => {
        this.#forgetOld();
        this.onChange();
      },
      onRefused: () => session.doubt(),
      log,
    });
    this.caller = new FleetCaller({
      session,
      brokerUrl,
      ...(session.granted.way === null ? { carry: carriedBy(hub, session) } : {}),
      keyOf: (id) => this.#directory.get(id)?.signing_key ?? null,
      now,
      log,
    });
  }

  get nodes(): readonly FleetNode[] {
    return this.#directory.all.map(({ id }) => this.#clientOf(id));
  }

  /** Resolves once the hub's list is there. */
  get listed(): Promise<void> {
    return this.#directory.ready;
  }

  start(): void {
    this.session.start();
    this.#directory.start();
    this.caller.start();
  }

  stop(): void {
    this.caller.stop();
    this.#directory.stop();
    this.session.stop();
    this.session.keys.release();
  }

  /** A node of a fleet has its id from the hub. */
  async learn(): Promise<boolean> {
    return Promise.resolve(false);
  }

  resolve(wanted: unknown, principal: Principal): FleetNode {
    if (typeof wanted === 'string' && this.#directory.get(wanted) !== undefined)
      return this.#clientOf(wanted);
    return choose(this.nodes, wanted, principal);
  }

  async askHub(path: string): Promise<unknown> {
    try {
      return await askHub(this.#options.hub, path);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (error.status === 401) this.session.doubt();
      throw new Denial(error.status === 404 ? 'not_found' : 'rest_down', error.message);
    }
  }

  #clientOf(id: string): FleetNode {
    const { session, operator, wall } = this.#options;
    const known = this.#clients.get(id);
    if (known !== undefined) return known;
    const entry = (node: string): NodeEntry | undefined => this.#directory.get(node);
    const made = new FleetNode({ id, entry, session, caller: this.caller, operator, wall });
    this.#clients.set(id, made);
    return made;
  }

  #forgetOld(): void {
    for (const id of this.#clients.keys())
      if (this.#directory.get(id) === undefined) {
        this.#clients.delete(id);
        this.caller.forget(id);
      }
  }
}
