import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  common,
  type MavLinkData,
  type MavLinkDataConstructor,
  type MavLinkPacket,
  MavLinkPacketParser,
  MavLinkPacketSplitter,
  MavLinkProtocolV2,
  minimal,
} from 'node-mavlink';

/** How a client signs. */
export interface Signer {
  readonly key: Buffer;
  readonly linkId: number;
  /** ms since 1970. */
  readonly at: () => number;
}

interface Waiter {
  readonly see: (packet: MavLinkPacket) => boolean;
}

/** A ground station's end of the link, decoded by node-mavlink and not by anything of this repository. */
export class SimClient {
  readonly socket: Duplex;
  /** System id that commands go to; 0: everybody. */
  target = 1;
  readonly packets: MavLinkPacket[] = [];
  /** Texts of all STATUSTEXTs so far. */
  readonly texts: string[] = [];
  readonly #sysid: number;
  readonly #compid: number;
  readonly #protocol: MavLinkProtocolV2;
  readonly #waiters = new Set<Waiter>();
  #seq = 0;
  #signing: Signer | undefined;

  /** @param socket any way to the vehicle */
  constructor(socket: Duplex, sysid = 255, compid = 190) {
    this.socket = socket;
    this.#sysid = sysid;
    this.#compid = compid;
    this.#protocol = new MavLinkProtocolV2(sysid, compid);
    socket.on('error', () => undefined); // a reset counts as closed
    socket
      .pipe(new MavLinkPacketSplitter())
      .pipe(new MavLinkPacketParser())
      .on('data', (packet: MavLinkPacket) => this.#take(packet));
  }

  static async connect(port: number, sysid = 255): Promise<SimClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new SimClient(socket, sysid);
  }

  /** Sends the heartbeat of a ground station once a second, until the socket closes. */
  standAsStation(): void {
    const beat = (): void =>
      this.send(minimal.Heartbeat, { type: minimal.MavType.GCS, autopilot: minimal.MavAutopilot.INVALID });
    beat();
    const timer = setInterval(beat, 1000);
    this.socket.once('close', () => clearInterval(timer));
  }

  close(): void {
    this.socket.destroy();
  }

  /** The next message of a type for which `where` holds. Fails after `ms`. */
  async next<T extends MavLinkData>(
    type: MavLinkDataConstructor<T>,
    where: (message: T) => boolean = () => true,
    ms = 20_000,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        see: (packet) => {
          if (packet.header.msgid !== type.MSG_ID) return false;
          const message = packet.protocol.data(packet.payload, type);
          if (!where(message)) return false;
          clearTimeout(timer);
          resolve(message);
          return true;
        },
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new Error(`no ${type.MSG_NAME} within ${ms} ms; texts: ${this.texts.join(' | ')}`));
      }, ms);
      this.#waiters.add(waiter);
    });
  }

  async text(part: string, ms?: number): Promise<common.StatusText> {
    return this.next(common.StatusText, ({ text }) => text.includes(part), ms);
  }

  write(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  send<T extends MavLinkData>(type: MavLinkDataConstructor<T>, values: Partial<T>): void {
    this.write(this.frame(type, values));
  }

  frame<T extends MavLinkData>(type: MavLinkDataConstructor<T>, values: Partial<T>): Buffer {
    const message = new type();
    const zero = Object.fromEntries(
      type.FIELDS.map((field) => [field.name, field.type === 'char[]' ? '' : field.length > 0 ? [] : 0]),
    );
    Object.assign(message, zero, values);
    this.#seq = (this.#seq + 1) & 0xff;
    if (this.#signing === undefined) return this.#protocol.serialize(message, this.#seq);
    const { key, linkId, at } = this.#signing;
    const protocol = new MavLinkProtocolV2(this.#sysid, this.#compid, MavLinkProtocolV2.IFLAG_SIGNED);
    return protocol.sign(protocol.serialize(message, this.#seq), linkId, key, at());
  }

  /** Signs everything from now on; undefined: nothing. */
  sign(signing: Signer | undefined): void {
    this.#signing = signing;
  }

  /** COMMAND_LONG, without waiting for anything. */
  order(command: number, ...params: number[]): void {
    const [p1 = 0, p2 = 0, p3 = 0, p4 = 0, p5 = 0, p6 = 0, p7 = 0] = params;
    this.send(common.CommandLong, {
      command,
      targetSystem: this.target,
      targetComponent: 1,
      ...named({ _param1: p1, _param2: p2, _param3: p3, _param4: p4, _param5: p5, _param6: p6, _param7: p7 }),
    });
  }

  /** COMMAND_LONG and the result of its ack. */
  async command(command: number, ...params: number[]): Promise<common.MavResult> {
    const ack = this.ack(command);
    this.order(command, ...params);
    return (await ack).result;
  }

  /** COMMAND_INT with a place (degrees, metres above home) and the result of its ack. */
  async commandInt(
    command: number,
    place: readonly [lat: number, lon: number, alt: number],
    params: readonly number[] = [],
    frame = common.MavFrame.GLOBAL_RELATIVE_ALT,
  ): Promise<common.MavResult> {
    const ack = this.ack(command);
    const [p1 = 0, p2 = 0, p3 = 0, p4 = 0] = params;
    this.send(common.CommandInt, {
      command,
      targetSystem: this.target,
      targetComponent: 1,
      frame,
      ...named({ _param1: p1, _param2: p2, _param3: p3, _param4: p4 }),
      ...named({
        _param5: Math.round(place[0] * 1e7),
        _param6: Math.round(place[1] * 1e7),
        _param7: place[2],
      }),
    });
    return (await ack).result;
  }

  async ack(command: number, ms?: number): Promise<common.CommandAck> {
    return this.next(common.CommandAck, ({ command: id }: { command: number }) => id === command, ms);
  }

  /** Heartbeats at 20 Hz and positions at 50 Hz, and a vehicle that knows where it is. */
  async fastTelemetry(): Promise<void> {
    this.order(511, minimal.Heartbeat.MSG_ID, 50_000);
    this.order(511, common.GlobalPositionInt.MSG_ID, 20_000);
    await this.next(common.GlobalPositionInt, ({ lat }) => Math.abs(lat) > 100_000); // a plane reckons on from 0,0
  }

  async armed(armed: boolean, ms?: number): Promise<minimal.Heartbeat> {
    return this.next(minimal.Heartbeat, ({ baseMode }) => ((baseMode & 128) !== 0) === armed, ms);
  }

  /** GUIDED, armed, and at `height` metres. */
  async flyUp(height: number): Promise<void> {
    await this.command(176, 1, 4);
    await this.command(400, 1);
    await this.command(22, 0, 0, 0, 0, 0, 0, height);
    await this.height(height, 0.5);
  }

  /** Waits for a height above home in metres. */
  async height(metres: number, within: number, ms?: number): Promise<common.GlobalPositionInt> {
    return this.next(
      common.GlobalPositionInt,
      ({ relativeAlt }) => Math.abs(relativeAlt / 1000 - metres) < within,
      ms,
    );
  }

  #take(packet: MavLinkPacket): void {
    this.packets.push(packet);
    if (packet.header.msgid === common.StatusText.MSG_ID) {
      this.texts.push(packet.protocol.data(packet.payload, common.StatusText).text.trimEnd());
    }
    for (const waiter of this.#waiters) if (waiter.see(packet)) this.#waiters.delete(waiter);
  }
}

// The library's own names of the parameters; in one place, because they are hardly public.
function named(params: Partial<Record<`_param${1 | 2 | 3 | 4 | 5 | 6 | 7}`, number>>): object {
  return params;
}
