import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import type { MqttClient } from 'mqtt';
import { EventQueue } from '../../front/fleet/event-queue.ts';
import { FleetClient, type FleetClientOptions } from '../../front/fleet/fleet-client.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import { type Client, clientOf, type Server, serverOf } from '../../shared/rpc/contract.ts';
import { FLEET, type FleetLinkState, type FleetPlace } from '../../shared/rpc/fleet.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import { Broker } from '../support/mosquitto.ts';
import { removeDir, tempDir } from '../support/temp.ts';

export const NODE = 'node-1';
export const CALLER = 'mc_caller01';

/** Where nothing waits longer than a test can. */
const QUICK = {
  connectMs: 1000,
  keepaliveMs: 1000,
  firstPauseMs: 50,
  longestPauseMs: 200,
  tickMs: 50,
  reportMs: 200,
  ackMs: 300,
  longestAckMs: 600,
};

/** svc-link tells its state at least twice a second. */
const TELL_MS = 100;

/** Something that changes, and can be waited for. */
class Changing extends EventEmitter {
  changed(): void {
    this.emit('changed');
  }

  async until(fits: () => boolean): Promise<void> {
    while (!fits()) await once(this, 'changed');
  }
}

/** svc-control's end of fleet.sock. It believes an acknowledgement that is JSON, and a policy that is not `forged`. */
export class FakeControl extends Changing {
  place: FleetPlace | null = null;
  status: Record<string, unknown> = {
    at: 1,
    armed: false,
    fc_connected: true,
    mode: 'GUIDED',
    nonce: 'boot0000.1',
  };
  telemetry: Record<string, unknown> = {
    mavlink_alive: true,
    mode: 'GUIDED',
    armed: false,
    position: { lat: 1, lon: 2 },
    statustext: [{ text: 'not wanted' }],
  };
  /** The answers about the status and acknowledgements wait for this. */
  held: Promise<null> = Promise.resolve(null);
  /** It answers policies as if it were stopping. */
  away = false;
  /** How often it was asked for the status. */
  asked = 0;
  readonly calls: string[] = [];
  readonly policies: string[] = [];
  readonly acks: string[] = [];
  readonly watches: string[] = [];
  readonly reports: FleetLinkState[] = [];
  answer: (jws: string) => Promise<string | null> = async (jws) => `reply to ${jws}`;
  readonly #server: Server<typeof FLEET>;

  constructor(path: string) {
    super();
    this.#server = serverOf(FLEET, {
      path,
      handlers: {
        place: () => ({ place: this.place }),
        status: async () => {
          this.asked++;
          this.changed();
          await this.held;
          return this.status as never;
        },
        telemetry: () => this.telemetry,
        call: async ({ jws }) => {
          this.calls.push(jws);
          this.changed();
          return { reply: await this.answer(jws) };
        },
        policy: ({ jws }) => {
          this.policies.push(jws);
          this.changed();
          if (this.away) throw new ApiError('E_DRAINING');
          if (jws === 'forged') throw new ApiError('E_INVALID_VALUE', 'not signed by the hub');
          return { seq: this.policies.length };
        },
        ack: async ({ jws }) => {
          this.acks.push(jws);
          this.changed();
          await this.held;
          if (jws === 'forged') throw new ApiError('E_INVALID_VALUE', 'not signed by the hub');
          return JSON.parse(jws) as { stream: string; seq: number };
        },
        watch: ({ jws }) => {
          this.watches.push(jws);
          this.changed();
          if (jws === 'forged') throw new ApiError('E_INVALID_VALUE', 'not signed by the hub');
          return JSON.parse(jws) as { telemetry_hz: number; pictures_hz: number; seconds: number };
        },
        report: (state) => {
          this.reports.push(state);
          this.changed();
          return {};
        },
      },
      greeting: () => [['place', this.place]],
      onError: (error) => {
        throw error;
      },
    });
  }

  async start(): Promise<void> {
    await this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  enter(place: FleetPlace | null): void {
    this.place = place;
    this.#server.tell('place', place);
  }
}

/** svc-link's end of link.sock, as far as its state goes. */
export class FakeLink {
  #state: LinkState;
  #timer: NodeJS.Timeout | undefined;
  readonly #server: RpcServer;

  constructor(path: string) {
    this.#state = linkState({});
    this.#server = new RpcServer({
      path,
      methods: {},
      greeting: () => [['state', this.#state]],
      onError: (error) => {
        throw error;
      },
    });
  }

  async start(): Promise<void> {
    await this.#server.start();
    this.#timer = setInterval(() => this.tell(this.#state), TELL_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#server.stop();
  }

  tell(state: LinkState): void {
    this.#state = state;
    this.#server.broadcast('state', state);
  }
}

/** As much of a state as svc-fleet reads. */
export function linkState({
  alive = true,
  armed = false,
  mode = 'GUIDED',
  texts = [],
  others = [],
  changed = null,
}: {
  alive?: boolean;
  armed?: boolean | 'unknown';
  mode?: string | null;
  texts?: LinkState['statustext'];
  others?: number[];
  changed?: LinkState['vehicle_changed'];
}): LinkState {
  const state: Pick<
    LinkState,
    | 'mavlink_alive'
    | 'armed'
    | 'statustext'
    | 'firmware'
    | 'firmware_version'
    | 'system_id'
    | 'other_vehicles'
    | 'vehicle_changed'
  > & { telemetry: Pick<LinkState['telemetry'], 'mode'> } = {
    mavlink_alive: alive,
    armed,
    statustext: texts,
    firmware: 'ardupilot',
    firmware_version: '4.5.7',
    system_id: 1,
    other_vehicles: others,
    vehicle_changed: changed,
    telemetry: { mode },
  };
  return state as LinkState;
}

export interface Heard {
  readonly topic: string;
  readonly text: string;
  readonly retained: boolean;
}

/** The hub's eyes and hands at the broker. It acknowledges events as it is told to. */
export class FakeHub extends Changing {
  readonly heard: Heard[] = [];
  /** Each event once, as a hub stores them. */
  readonly stored: FleetEvent[] = [];
  repeats = 0;
  /** What becomes of an event; it is acknowledged at once unless a test says otherwise. */
  onEvent: (event: FleetEvent) => void = (event) => void this.acknowledge(event);
  readonly #fleet: string;
  #client: MqttClient | null = null;
  #markers = 0;

  constructor(fleet: string) {
    super();
    this.#fleet = fleet;
  }

  async connect(broker: Broker): Promise<void> {
    const client = await broker.client('hub');
    client.on('message', (topic, payload, { retain }) => {
      const text = payload.toString();
      this.heard.push({ topic, text, retained: retain });
      if (topic.endsWith('/event')) this.#take(JSON.parse(text) as FleetEvent);
      this.changed();
    });
    await client.subscribeAsync(`svc/1/${this.#fleet}/#`, { qos: 1 });
    this.#client = client;
  }

  async disconnect(): Promise<void> {
    await this.#client?.endAsync(true);
    this.#client = null;
  }

  async acknowledge({ stream, seq }: Pick<FleetEvent, 'stream' | 'seq'>): Promise<void> {
    await this.publish(`${NODE}/ack`, JSON.stringify({ stream, seq }), true);
  }

  async publish(topic: string, text: string | Buffer, retain = false): Promise<void> {
    await this.#client?.publishAsync(`svc/1/${this.#fleet}/${topic}`, text, { qos: 1, retain });
  }

  /** Resolves when it has heard all that is with the broker by now: a message of its own comes after that. */
  async caughtUp(): Promise<void> {
    const marker = `marker ${this.#markers++}`;
    await this.publish('marker', marker);
    await this.until(() => this.heard.some(({ text }) => text === marker));
  }

  /** What was heard on a topic of the node, as JSON, oldest first. */
  told(what: string, node = NODE): Record<string, unknown>[] {
    return this.heard
      .filter(({ topic }) => topic === `svc/1/${this.#fleet}/${node}/${what}`)
      .map(({ text }) => JSON.parse(text) as Record<string, unknown>);
  }

  #take(event: FleetEvent): void {
    const known = this.stored.filter(({ stream }) => stream === event.stream).at(-1);
    if (known !== undefined && event.seq <= known.seq) this.repeats++;
    else this.stored.push(event);
    this.onEvent(event);
  }
}

/** Between a client and the broker: it can stop passing anything on, or what the broker says, without closing a connection. */
export class Proxy {
  readonly #server: TcpServer;
  readonly #sockets = new Set<Socket>();
  #frozen = false;
  #muted = false;

  private constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (chunk) => {
          if (!this.#frozen && !(this.#muted && from === far)) to.write(chunk);
        });
        from.on('close', () => to.destroy());
        from.on('error', () => to.destroy());
      }
    });
  }

  static async start(target: number): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return `mqtts://127.0.0.1:${address.port}`;
  }

  freeze(frozen: boolean): void {
    this.#frozen = frozen;
  }

  /** From now on nothing of the broker's. */
  mute(): void {
    this.#muted = true;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** A folder, a broker, a hub, and both processes that svc-fleet speaks to. */
export class Rig {
  readonly folder: string;
  readonly broker: Broker;
  readonly hub: FakeHub;
  readonly control: FakeControl;
  readonly place: FleetPlace;
  /** What the clients wrote to the log. */
  readonly lines: string[] = [];
  readonly #rpc: Client<typeof FLEET>;
  readonly #clients = new Set<FleetClient>();

  private constructor(folder: string, broker: Broker, control: FakeControl, place: FleetPlace) {
    this.folder = folder;
    this.broker = broker;
    this.control = control;
    this.place = place;
    this.hub = new FakeHub(broker.fleet);
    this.#rpc = clientOf(FLEET, { path: join(folder, 'fleet.sock') });
  }

  static async start(): Promise<Rig> {
    const folder = await tempDir();
    const broker = await Broker.start(folder);
    const control = new FakeControl(join(folder, 'fleet.sock'));
    await control.start();
    const { ca, cert: certificate, key } = await broker.identity(NODE);
    const place: FleetPlace = {
      node: NODE,
      fleet: broker.fleet,
      name: 'Falcon',
      profile: 'drone',
      version: '0.1.0',
      brokers: [broker.url],
      ca,
      certificate,
      key,
    };
    const rig = new Rig(folder, broker, control, place);
    await rig.hub.connect(broker);
    await rig.#rpc.connectOnce();
    return rig;
  }

  queue(name = 'queue.db', maxBytes = 1_000_000): EventQueue {
    return new EventQueue({
      path: name === ':memory:' ? name : join(this.folder, name),
      owner: 'f-test/node-1',
      maxBytes,
      log: this.log,
      now: () => Date.now(),
    });
  }

  get log(): FleetClientOptions['log'] {
    const write = (line: unknown): void => void this.lines.push(String(line));
    return { info: write, warn: write, error: write };
  }

  /** A started client that stops with the rig. */
  client(options: Partial<FleetClientOptions> = {}): FleetClient {
    const client = new FleetClient({
      place: this.place,
      control: this.#rpc.calls,
      queue: options.queue ?? this.queue(':memory:'),
      telemetryHz: 0,
      telemetryFields: ['mode', 'position', 'absent'],
      log: this.log,
      random: Math.random,
      wall: () => Date.now(),
      now: () => performance.now(),
      ...options,
      limits: { ...QUICK, ...options.limits },
    });
    this.#clients.add(client);
    client.start();
    return client;
  }

  /** Resolves with the first report of the connection that fits, from now on or the newest. */
  async reported(fits: (state: FleetLinkState) => boolean): Promise<FleetLinkState> {
    const newest = (): FleetLinkState | undefined => this.control.reports.at(-1);
    await this.control.until(() => {
      const state = newest();
      return state !== undefined && fits(state);
    });
    const state = newest();
    if (state === undefined) throw new Error('no report');
    return state;
  }

  /** Calls the node, and asks for the reply at a topic of its own. What it said before is with the broker then. @returns topic and text of the reply */
  async replied(caller: string, call: string): Promise<readonly [topic: string, text: string]> {
    const client = await this.broker.client(caller);
    const root = `svc/1/${this.broker.fleet}`;
    await client.subscribeAsync(`${root}/${caller}/reply/+`, { qos: 1 });
    const reply = Promise.withResolvers<readonly [string, string]>();
    client.once('message', (topic, payload) => reply.resolve([topic, payload.toString()]));
    await client.publishAsync(`${root}/${NODE}/call/${caller}`, call, {
      qos: 1,
      properties: { responseTopic: `${root}/${NODE}/status` },
    });
    const said = await reply.promise;
    await client.endAsync(true);
    return said;
  }

  /** Resolves when the clients have read what svc-control has answered by now, and the hub has heard what they said to it. */
  async answered(): Promise<void> {
    await this.#rpc.calls.telemetry({}); // its answer comes after those
    await this.hub.caughtUp();
  }

  /** Resolves when the clients have done all that follows from what the broker was given by now: a policy goes the same way. */
  async settled(): Promise<void> {
    const { policies } = this.control;
    const marker = `marker of ${policies.length}`;
    await this.hub.publish('policy', marker);
    await this.control.until(() => policies.includes(marker));
    await this.answered();
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.stop();
    this.#rpc.stop();
    await this.hub.disconnect();
    await this.control.stop();
    await this.broker.kill();
    await removeDir(this.folder);
  }
}
