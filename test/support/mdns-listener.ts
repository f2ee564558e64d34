import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { askAgain } from './ask-again.ts';

const GROUP = '224.0.0.251';
export const SERVICE = '_svc._tcp.local';
export const QUERY: Packet = { type: 'query', questions: [{ name: SERVICE, type: 'PTR' }] };

/** Another machine of a link, which hears what the node sends there by mDNS. */
export class MdnsListener {
  readonly #socket: Socket;
  readonly heard: DecodedPacket[] = [];
  #defence: Packet | null = null;

  private constructor(socket: Socket, node: string) {
    this.#socket = socket;
    socket.on('message', (bytes, { address }) => {
      if (address !== node) return;
      const packet = decode(bytes);
      this.heard.push(packet);
      if (this.#defence !== null && (packet.authorities ?? []).length > 0) this.send(this.#defence);
    });
  }

  /** @param own its address on the link. @param node that of the node */
  static async open(own: string, node: string): Promise<MdnsListener> {
    const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind(5353);
    await once(socket, 'listening');
    socket.addMembership(GROUP, own);
    socket.setMulticastInterface(own);
    return new MdnsListener(socket, node);
  }

  get responses(): readonly DecodedPacket[] {
    return this.heard.filter(({ type }) => type === 'response');
  }

  send(packet: Packet | Buffer): void {
    this.#socket.send(Buffer.isBuffer(packet) ? packet : encode({ ...packet }), 5353, GROUP);
  }

  /** Says that now, and whenever the node asks whether a name is free. */
  defend(packet: Packet | null): void {
    this.#defence = packet;
    if (packet !== null) this.send(packet);
  }

  /** Asks until the node answers so. */
  async until(
    what: string,
    fits: (records: readonly Answer[]) => boolean,
    packet: Packet = QUERY,
  ): Promise<void> {
    this.heard.length = 0;
    await askAgain(
      what,
      async () => {
        this.send(packet);
        await delay(50);
        return this.responses;
      },
      (all) => all.some(({ answers = [], additionals = [] }) => fits([...answers, ...additionals])),
    );
  }

  close(): void {
    this.#socket.close();
  }
}
