import { type Frame, frameAt } from '../../../../shared/mavlink/frame.ts';
import { Framer } from '../../../../shared/mavlink/framer.ts';
import { targetFieldsOf } from '../../../../shared/mavlink/targets.ts';
import type { AgentHalf } from '../../../../shared/plugins/manifest.ts';
import { COMPONENT_KINDS } from '../../../../shared/plugins/mavlink-kinds.ts';
import { type Feed, openFeed } from '../../../../shared/rpc/feed.ts';

type Declared = AgentHalf['mavlink_components'][number];

interface Playing {
  readonly declared: Declared;
  readonly feed: Feed;
}

interface ComponentsOptions {
  readonly extension: string;
  /** svc-link's `mavlink.sock`. */
  readonly mavlinkSocket: string;
  /** Of the manifest. */
  readonly declared: readonly Declared[];
  readonly grants: () => ReadonlySet<string>;
  /** A frame for one of them. */
  readonly onFrame: (component: number, frame: Buffer) => void;
  readonly onEnd: (component: number, reason: string) => void;
}

/** The components of the vehicle that one connection of an extension plays; svc-link holds it to that. */
export class ExtensionComponents {
  readonly #options: ComponentsOptions;
  readonly #playing = new Map<number, Playing>();

  constructor(options: ComponentsOptions) {
    this.#options = options;
  }

  /** @throws Error: not declared, not granted, or there is such a component on the link already */
  async register(id: number): Promise<void> {
    const { extension, mavlinkSocket, onFrame, onEnd } = this.#options;
    const declared = this.#checked(id);
    const { type, messages } = COMPONENT_KINDS[declared.component_kind];
    if (this.#playing.has(id)) return;
    await new Promise<void>((resolve, reject) => {
      const feed = openFeed({
        path: mavlinkSocket,
        hello: {
          name: `extension ${extension}, component ${id}`,
          write: true,
          force: false,
          msgs: null,
          client_id: null,
          component: { id, type, messages: [...messages] },
        },
        onOpen: resolve,
        onFrame: (frame) => {
          if (isFor(frame, id)) onFrame(id, frame.bytes());
        },
        onRefused: (reason) => reject(new Error(reason)),
        onEnd: (reason) => {
          reject(new Error(reason)); // without effect once it was open
          if (this.#playing.get(id)?.feed !== feed) return;
          this.#playing.delete(id);
          onEnd(id, reason);
        },
      });
      this.#playing.set(id, { declared, feed });
    });
  }

  /** @throws Error: not registered, not granted, no frame of this component, or svc-link does not take it */
  send(id: number, bytes: Uint8Array): void {
    const { component_kind: kind } = this.#checked(id);
    const playing = this.#playing.get(id);
    if (playing === undefined) throw new Error(`the component ${id} is not registered`);
    const frame = oneFrame(bytes);
    if (frame === null) throw new Error('frame: the bytes of one MAVLink frame');
    if (frame.component !== id)
      throw new Error(`frame: it is of the component ${frame.component}, not of ${id}`);
    if (!COMPONENT_KINDS[kind].messages.has(frame.id))
      throw new Error(
        `frame: a component of the kind ${kind} does not send message ${frame.id}; ask for mavlink.write`,
      );
    if (!playing.feed.write(bytes)) throw new Error('svc-link does not take it at the moment');
  }

  /** A grant was revoked. */
  recheck(): void {
    const grants = this.#options.grants();
    for (const { declared, feed } of this.#playing.values())
      if (!grants.has(COMPONENT_KINDS[declared.component_kind].capability)) feed.end();
  }

  end(): void {
    const feeds = [...this.#playing.values()];
    this.#playing.clear();
    for (const { feed } of feeds) feed.end();
  }

  #checked(id: number): Declared {
    const declared = this.#options.declared.find(({ component_id: known }) => known === id);
    if (declared === undefined)
      throw new Error(`the manifest declares no component ${id} in mavlink_components`);
    const { capability } = COMPONENT_KINDS[declared.component_kind];
    if (!this.#options.grants().has(capability)) throw new Error(`capability_denied: ${capability}`);
    return declared;
  }
}

/** Addressed to it, or to every component of its system; what is for everybody is mavlink.read. */
function isFor(frame: Frame, id: number): boolean {
  const fields = targetFieldsOf(frame.id);
  if (fields === null) return false;
  const byte = (at: number): number =>
    at >= 0 && at < frame.payloadLength ? (frame.buffer[frame.payloadStart + at] ?? 0) : 0;
  const component = byte(fields.component);
  return component === id || component === 0;
}

/** Null unless the bytes are one whole frame with a right checksum, from the first to the last. */
function oneFrame(bytes: Uint8Array): Frame | null {
  let found: Frame | null = null;
  const framer = new Framer((frame) => {
    found = frame.length === bytes.length && frame.known ? frameAt(frame.bytes()) : null;
  });
  framer.push(bytes, 0);
  return found;
}
