import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type MavLinkPacket, MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import {
  attitude,
  commandAck,
  encodeAs,
  globalPosition,
  heartbeat,
  paramValue,
  statusText,
} from './mavlink-samples.ts';

export const PEER_PARAMS = 40;

/** A vehicle on a real TCP port, written with node-mavlink only; arming is refused until `ready`. */
export class PeerVehicle {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  ready = false;
  armed = false;
  /** Says nothing more. */
  mute = false;
  /** Commands that it neither carries out nor answers. */
  readonly deafTo = new Set<number>();
  /** COMMAND_LONGs that came to it: MAV_CMD and first parameter. */
  readonly commands: string[] = [];
  connections = 0;
  ownHeartbeats = 0;
  /** Components from which something came to it. */
  readonly components = new Set<number>();
  /** Message ids that came to it, oldest first. */
  readonly heard: number[] = [];
  #wake: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #seq = 0;

  constructor() {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#timer = setInterval(() => this.#tell(), 100);
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.hangUp();
    this.#server.close();
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  write(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  #say(message: Parameters<typeof encodeAs>[0]): void {
    this.write(encodeAs(message, 'v2', this.#seq++ & 0xff, 5));
  }

  #tell(): void {
    if (this.mute) return;
    this.#say(heartbeat({ armed: this.armed, customMode: 4 }));
    this.#say(attitude(1000 + this.#seq));
    this.#say(globalPosition(1000 + this.#seq, 48.1, 11.5));
  }

  #accept(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('error', () => undefined); // the link resets connections when it stops
    socket.on('close', () => this.#sockets.delete(socket));
    socket
      .pipe(new MavLinkPacketSplitter())
      .pipe(new MavLinkPacketParser())
      .on('data', (packet: MavLinkPacket) => this.#hear(packet));
  }

  #hear({ header, payload }: MavLinkPacket): void {
    this.heard.push(header.msgid);
    this.components.add(header.compid);
    for (const wake of this.#wake.splice(0)) wake();
    if (header.msgid === 0) this.ownHeartbeats++;
    if (header.msgid === 21) {
      for (let index = 0; index < PEER_PARAMS; index++)
        this.#say(paramValue(`PEER_${index}`, index, index, PEER_PARAMS));
    }
    if (header.msgid !== 76) return;
    const command = payload.readUInt16LE(28);
    this.commands.push(`${command} ${payload.readFloatLE(0)}`);
    for (const wake of this.#wake.splice(0)) wake();
    if (this.deafTo.has(command)) return;
    if (command !== 400) {
      this.#say(commandAck(command, 0, 5));
      return;
    }
    this.#say(commandAck(400, this.ready ? 0 : 4, 5));
    if (this.ready) this.armed = payload.readFloatLE(0) === 1;
    else this.#say(statusText(2, 'PreArm: not ready'));
  }

  /** Resolves when that command, `MAV_CMD parameter`, has come `count` times. */
  async isTold(command: string, count = 1): Promise<void> {
    while (this.commands.filter((told) => told === command).length < count) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Resolves when message `id` has come `count` times. */
  async hears(id: number, count = 1): Promise<void> {
    while (this.heard.filter((heard) => heard === id).length < count) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }
}
