import { createServer, type Server, type Socket } from 'node:net';
import { isScope, type Scope } from '../../../shared/auth/scopes.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { isObject, memberOf, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { FeedComponent, FeedHello, FeedReply } from '../../../shared/rpc/feed.ts';
import type { EndpointStatus } from '../../../shared/rpc/link-state.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';
import { OwnHeartbeat } from '../own-heartbeat.ts';
import type { Router } from '../router/router.ts';
import type { WirePolicy } from '../router/wire-guard.ts';
import { ComponentRule } from './component-rule.ts';
import { MessageFilter } from './message-filter.ts';
import { Newcomer } from './newcomer.ts';
import { RoutedPeer } from './routed-peer.ts';
import { StreamSink } from './stream-sink.ts';

const MAX_PEERS = 128;
const MAX_HELLO_BYTES = 4096;
const HELLO_MS = 2000;
const LF = 0x0a;
const BRACE = 0x7b;

interface FeedEndpointOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly router: Router;
  readonly serialControl: boolean;
  /** The vehicle whose components some clients are; null before it is known. */
  readonly vehicle: () => Target | null;
}

/** A client that is a component of the vehicle. */
interface Component {
  readonly id: number;
  readonly peer: RoutedPeer;
  readonly rule: ComponentRule;
}

/**
 * Raw frames for the front's WebSockets, over a Unix socket: a FeedHello as one line of JSON, answered by a FeedReply, then
 * frames both ways. svc-control decides what the client may do; this side enforces it.
 */
export class FeedEndpoint {
  readonly #options: FeedEndpointOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #peers = new Set<RoutedPeer>();
  readonly #components = new Set<Component>();
  readonly #heartbeat: OwnHeartbeat;
  #turnedAway = 0;

  constructor(options: FeedEndpointOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#heartbeat = new OwnHeartbeat(options.clock, () => {
      for (const component of this.#components) beat(component);
    });
  }

  get status(): EndpointStatus {
    return {
      name: 'websocket',
      open: this.#server.listening,
      problem: null,
      peers_turned_away: this.#turnedAway,
      peers: [...this.#peers].map(({ status }) => status),
    };
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.path);
    this.#heartbeat.start();
  }

  async stop(): Promise<void> {
    this.#heartbeat.stop();
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    const { clock, log } = this.#options;
    if (this.#sockets.size >= MAX_PEERS) {
      this.#turnedAway++;
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    let waiting: Buffer = Buffer.alloc(0);
    let peer: RoutedPeer | null = null;
    let newcomer: Newcomer | null = null;
    const timer = clock.after(HELLO_MS, () => socket.destroy());
    socket.on('error', (error) => log.debug(`feed: ${messageOf(error)}`)); // 'close' follows
    socket.on('close', () => {
      timer.cancel();
      this.#sockets.delete(socket);
      if (peer === null) return;
      peer.detach();
      this.#peers.delete(peer);
      for (const component of this.#components)
        if (component.peer === peer) this.#components.delete(component);
    });
    socket.on('data', (chunk: Buffer) => {
      if (newcomer !== null) {
        if (newcomer.push(chunk) !== null) socket.destroy();
        return;
      }
      waiting = Buffer.concat([waiting, chunk]);
      const end = waiting.indexOf(LF);
      if (waiting[0] !== BRACE || (end === -1 && waiting.length > MAX_HELLO_BYTES)) {
        this.#turnedAway++;
        socket.destroy();
        return;
      }
      if (end === -1) return;
      timer.cancel();
      peer = this.#begin(socket, waiting.toString('utf8', 0, end));
      if (peer === null) {
        socket.removeAllListeners('data').resume(); // whatever follows a refused hello is discarded
        return;
      }
      newcomer = new Newcomer(peer);
      if (newcomer.push(waiting.subarray(end + 1)) !== null) socket.destroy();
    });
  }

  /** @returns null after a hello that was refused */
  #begin(socket: Socket, line: string): RoutedPeer | null {
    const { clock, router, serialControl } = this.#options;
    const hello = parseHello(line);
    const filter = hello === null || hello.msgs === null ? null : MessageFilter.parse(hello.msgs, clock);
    const problem = typeof filter === 'string' ? filter : this.#componentProblem(hello?.component);
    if (hello === null || typeof filter === 'string' || problem !== null) {
      answer(socket, { ok: false, detail: problem ?? 'not a hello' });
      socket.end();
      return null;
    }
    answer(socket, { ok: true });
    const policy: WirePolicy = {
      mayWrite: hello.write,
      force: hello.force,
      serialControl,
      clientId: hello.client_id,
      scopes: hello.scopes,
    };
    const sink = new StreamSink(socket, filter);
    const rule =
      hello.component === undefined ? null : new ComponentRule(hello.component, this.#options.vehicle);
    const allows = rule === null ? undefined : (frame: Frame): boolean => rule.allows(frame);
    const peer = new RoutedPeer(hello.name, clock, router, sink, policy, allows);
    this.#peers.add(peer);
    if (rule !== null && hello.component !== undefined) {
      const component = { id: hello.component.id, peer, rule };
      this.#components.add(component);
      beat(component);
    }
    return peer;
  }

  /** Why nobody can be this component, in a sentence; null if it can be, or is none. */
  #componentProblem(component: FeedComponent | undefined): string | null {
    if (component === undefined) return null;
    const { router, vehicle } = this.#options;
    const { id } = component;
    const system = vehicle()?.system ?? null;
    const isTaken =
      [...this.#components].some((other) => other.id === id) ||
      (system !== null && router.knows({ system, component: id }));
    return isTaken ? `There is a component ${id} of the vehicle already. Take another id.` : null;
  }
}

function beat({ peer, rule }: Component): void {
  const heartbeat = rule.heartbeat();
  if (heartbeat !== null) peer.speak(heartbeat);
}

function answer(socket: Socket, reply: FeedReply): void {
  socket.write(`${JSON.stringify(reply)}\n`);
}

function parseHello(line: string): FeedHello | null {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isObject(value)) return null;
  const { name, write, force, msgs, scopes, client_id: clientId, component } = value;
  if (typeof name !== 'string' || typeof write !== 'boolean' || typeof force !== 'boolean') return null;
  if (msgs !== null && typeof msgs !== 'string') return null;
  if (clientId !== undefined && clientId !== null && typeof clientId !== 'string') return null;
  if (component !== undefined && !isComponent(component)) return null;
  if (scopes !== undefined && !isScopes(scopes)) return null;
  return {
    name,
    write,
    force,
    msgs,
    ...(scopes === undefined ? {} : { scopes }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(component === undefined ? {} : { component }),
  };
}

function isScopes(value: unknown): value is readonly Scope[] {
  return Array.isArray(value) && value.every(isScope);
}

function isComponent(value: unknown): value is FeedComponent {
  const messages = memberOf(value, 'messages');
  const isByte = (of: unknown): boolean => Number.isInteger(of) && Number(of) >= 0 && Number(of) <= 255;
  return (
    isByte(memberOf(value, 'id')) &&
    isByte(memberOf(value, 'type')) &&
    Array.isArray(messages) &&
    messages.every((id) => Number.isInteger(id))
  );
}
