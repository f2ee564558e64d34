import type { MissionMessage, WireItem } from '../../../shared/mavlink/decode-mission.ts';
import { RESULT } from './mission-frames.ts';
import { Transfer, type TransferOptions } from './transfer.ts';

export type UploadEnd =
  /** `opaqueId`: the vehicle's own id of the list from now on; 0 if it told none. */
  | { readonly kind: 'done'; readonly opaqueId: number }
  /** The vehicle is in another transfer, or was when it ended ours. */
  | { readonly kind: 'busy'; readonly result: number }
  /** `seq`: the item on the wire that it did not take; null: none of them. */
  | { readonly kind: 'refused'; readonly result: number; readonly seq: number | null };

/**
 * Writes one list: MISSION_COUNT, then the item that the vehicle asks for (ArduPilot by MISSION_REQUEST, PX4 by
 * MISSION_REQUEST_INT; both take MISSION_ITEM_INT), until its MISSION_ACK. An empty list is a MISSION_CLEAR_ALL. Where the last
 * MISSION_ACK got lost, the end is `done` too: the list is read back anyway.
 */
export class Upload extends Transfer<UploadEnd> {
  readonly #items: readonly WireItem[];
  /** The newest item that we sent; -1 before the vehicle asked for any. */
  #seq = -1;

  constructor(options: TransferOptions, items: readonly WireItem[]) {
    super(options);
    this.#items = items;
  }

  /** The newest item that the vehicle asked for; null before the first. */
  get seq(): number | null {
    return this.#seq === -1 ? null : this.#seq;
  }

  protected begin(): void {
    this.askAgain();
  }

  protected askAgain(): void {
    const { frames } = this.options;
    const item = this.#items[this.#seq];
    if (item !== undefined) this.ask(frames.item(item));
    else this.ask(this.#items.length === 0 ? frames.clearAll() : frames.count(this.#items.length));
  }

  onMessage(message: MissionMessage): void {
    if (message.kind === 'request') this.#onRequest(message.seq);
    else if (message.kind === 'ack') this.#onAck(message.result, message.opaqueId);
  }

  #onRequest(seq: number): void {
    const item = this.#items[seq];
    if (item === undefined) return;
    if (seq !== this.#seq) this.answered();
    // The same again: the vehicle did not get the item, or it has asked before the item can have reached it.
    else if (!this.isDue) return;
    this.#send(item);
  }

  #send(item: WireItem): void {
    this.#seq = item.seq;
    this.options.onProgress(item.seq, this.#items.length);
    this.ask(this.options.frames.item(item));
  }

  #onAck(result: number, opaqueId: number): void {
    const last = this.#seq === this.#items.length - 1;
    switch (result) {
      case RESULT.accepted:
        if (last) this.end({ kind: 'done', opaqueId }); // else it is of something earlier
        return;
      case RESULT.invalidSequence: {
        // ArduPilot has this item already, and its request of the next one was lost: it would ask again only after a second.
        const next = this.tries > 0 ? this.#items[this.#seq + 1] : undefined;
        if (next === undefined) return;
        this.answered();
        this.#send(next);
        return;
      }
      case RESULT.denied:
      case RESULT.cancelled:
        this.end({ kind: 'busy', result });
        return;
      case RESULT.error:
        if (this.#seq === -1) this.end({ kind: 'busy', result });
        // ArduPilot to a last item that comes again: it has ended the transfer, and its acknowledgement was lost.
        else if (last && this.tries > 0) this.end({ kind: 'done', opaqueId });
        else this.end({ kind: 'refused', result, seq: this.seq });
        return;
      default:
        this.end({ kind: 'refused', result, seq: this.seq });
    }
  }
}
