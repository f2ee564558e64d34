import type { MissionMessage, WireItem } from '../../../shared/mavlink/decode-mission.ts';
import { RESULT } from './mission-frames.ts';
import { Transfer, type TransferOptions } from './transfer.ts';

export type DownloadEnd =
  | { readonly kind: 'done'; readonly items: readonly WireItem[]; readonly opaqueId: number }
  /** `result`: MAV_MISSION_RESULT */
  | { readonly kind: 'refused'; readonly result: number }
  /** The list has become another one meanwhile. */
  | { readonly kind: 'changed' };

/**
 * Reads one list: MISSION_REQUEST_LIST, MISSION_COUNT, then each item by MISSION_REQUEST_INT, and at the end MISSION_ACK, without
 * which PX4 would wait. ArduPilot answers each request by itself, so several are on their way; PX4 wants one after the other.
 */
export class Download extends Transfer<DownloadEnd> {
  readonly #window: number;
  /** Undefined: not here yet. */
  #items: (WireItem | undefined)[] | null = null;
  #opaqueId = 0;
  #have = 0;
  #next = 0;
  /** Asked for and not here, in the order of asking. */
  readonly #open = new Set<number>();

  /** @param window requests on their way at once */
  constructor(options: TransferOptions, window: number) {
    super(options);
    this.#window = window;
  }

  protected begin(): void {
    this.ask(this.options.frames.requestList());
  }

  protected askAgain(): void {
    const { frames } = this.options;
    if (this.#items === null) this.ask(frames.requestList());
    else this.ask(...[...this.#open].map((seq) => frames.requestInt(seq)));
  }

  onMessage(message: MissionMessage): void {
    if (message.kind === 'count') this.#onCount(message.count, message.opaqueId);
    else if (message.kind === 'item') this.#onItem(message.item);
    else if (message.kind === 'ack') this.#onAck(message.result);
  }

  #onAck(result: number): void {
    if (result === RESULT.accepted) return; // of something earlier
    // ArduPilot and PX4 say so when an item is gone: the list has become shorter.
    const gone = this.#items !== null && (result === RESULT.invalidSequence || result === RESULT.error);
    this.end(gone ? { kind: 'changed' } : { kind: 'refused', result });
  }

  #onCount(count: number, opaqueId: number): void {
    if (this.#items !== null) {
      if (count !== this.#items.length || opaqueId !== this.#opaqueId) this.end({ kind: 'changed' });
      return;
    }
    this.#items = Array.from({ length: count });
    this.#opaqueId = opaqueId;
    this.answered();
    this.#more();
  }

  #onItem(item: WireItem): void {
    const items = this.#items;
    if (items === null || item.seq >= items.length || items[item.seq] !== undefined) return;
    items[item.seq] = item;
    this.#have++;
    // What was asked for before it, and is not here, has been lost: links keep the order.
    const lost: number[] = [];
    for (const seq of this.#open) {
      if (seq === item.seq) break;
      lost.push(seq);
    }
    this.#open.delete(item.seq);
    for (const seq of lost) {
      this.#open.delete(seq);
      this.#open.add(seq);
    }
    this.answered();
    this.options.onProgress(this.#have, items.length);
    this.#more(lost);
  }

  #more(again: readonly number[] = []): void {
    const { frames, send } = this.options;
    const items = this.#items ?? [];
    if (this.#have === items.length) {
      send(frames.ack(RESULT.accepted));
      const all = items.filter((item) => item !== undefined);
      this.end({ kind: 'done', items: all, opaqueId: this.#opaqueId });
      return;
    }
    const asked = [...again];
    while (this.#open.size < this.#window && this.#next < items.length) {
      this.#open.add(this.#next);
      asked.push(this.#next++);
    }
    this.ask(...asked.map((seq) => frames.requestInt(seq)));
  }
}
