import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { common, type MavLinkPacket, MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import { worksAtLast } from '../support/ask-again.ts';

/** A ground station's end of an endpoint: sends bytes, hears frames through node-mavlink. */
export class GroundStation {
  readonly heard: MavLinkPacket[] = [];
  readonly #send: (bytes: Buffer) => void;
  readonly #close: () => void;
  readonly #splitter = new MavLinkPacketSplitter();
  #wake: (() => void)[] = [];

  private constructor(send: (bytes: Buffer) => void, close: () => void) {
    this.#send = send;
    this.#close = close;
    this.#splitter.pipe(new MavLinkPacketParser()).on('data', (packet: MavLinkPacket) => {
      this.heard.push(packet);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  /** Tries again while nobody listens: the link tells its state before each of its endpoints is open. */
  static async tcp(port: number): Promise<GroundStation> {
    const socket = await worksAtLast(`somebody listens on TCP ${port}`, async () => {
      const attempt = connect(port, '127.0.0.1');
      await once(attempt, 'connect');
      return attempt;
    });
    socket.on('error', () => undefined); // an endpoint that ends resets
    const station = new GroundStation(
      (bytes) => socket.write(bytes),
      () => socket.destroy(),
    );
    socket.on('data', (bytes: Buffer) => station.take(bytes));
    return station;
  }

  /** @param bound listens there and answers whoever sent last, instead of sending to `port` */
  static async udp(port: number, bound = false): Promise<GroundStation> {
    const socket: UdpSocket = createSocket('udp4');
    let to = { port, address: '127.0.0.1' };
    socket.bind(bound ? port : 0, '127.0.0.1');
    await once(socket, 'listening');
    const station = new GroundStation(
      (bytes) => socket.send(bytes, to.port, to.address),
      () => socket.close(),
    );
    socket.on('message', (bytes, from) => {
      to = from;
      station.take(bytes);
    });
    return station;
  }

  take(bytes: Buffer): void {
    this.#splitter.write(bytes);
  }

  send(...frames: Buffer[]): void {
    for (const frame of frames) this.#send(frame);
  }

  close(): void {
    this.#close();
  }

  /** The next message `id`, of one component or of any, counted from now. */
  async next(id: number, component: number | null = null): Promise<MavLinkPacket> {
    const from = this.heard.length;
    for (;;) {
      const found = this.heard
        .slice(from)
        .find(({ header }) => header.msgid === id && header.compid === (component ?? header.compid));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Resolves when message `id` of that system and component has come, be it before or from now on. */
  async hears(
    system: number,
    component: number,
    id: number,
    fits: (payload: Buffer) => boolean = () => true,
  ): Promise<MavLinkPacket> {
    for (;;) {
      const found = this.heard.find(
        ({ header, payload }) =>
          header.sysid === system && header.compid === component && header.msgid === id && fits(payload),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** The next STATUSTEXT that the companion computer itself sent. */
  async told(): Promise<string> {
    for (;;) {
      const { header, payload } = await this.next(253);
      if (header.compid === 191) {
        const padded = Buffer.alloc(54);
        payload.copy(padded);
        return padded.toString('latin1', 1, 51).replace(/\0.*$/s, '');
      }
    }
  }
}

export function paramSet(name: string, value: number, system = 5): common.ParamSet {
  const message = new common.ParamSet();
  message.targetSystem = system;
  message.targetComponent = 1;
  message.paramId = name;
  message.paramValue = value;
  message.paramType = 9;
  return message;
}

export function commandLong(command: number, param1 = 0): common.CommandLong {
  const message = new common.CommandLong();
  message.targetSystem = 5;
  message.targetComponent = 1;
  message.command = command;
  message.confirmation = 0;
  const values = { _param1: param1, _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0 };
  return Object.assign(message, values);
}

export function serialControl(): common.SerialControl {
  const message = new common.SerialControl();
  return Object.assign(message, {
    device: 0,
    flags: 0,
    timeout: 0,
    baudrate: 0,
    count: 1,
    data: Array.from({ length: 70 }, () => 65),
  });
}
