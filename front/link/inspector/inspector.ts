import type { Family } from '../../../shared/flight/modes.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { SeenMessage } from '../../../shared/rpc/link-answers.ts';
import type { Clock } from '../clock.ts';
import type { Methods, Part } from '../part.ts';
import { fieldsOf, messageOf } from './decode.ts';

/** Several vehicles with all their messages; frames with made-up ids must fill neither the memory nor the answer. */
const MAX_KEPT = 512;
/** Whoever asks more often hears the same: the time that it takes is taken from the vehicle's frames. */
const SAME_MS = 200;
const SECONDS = 5;
const FORGET_MS = 60_000;
/** How often room is looked for, at most. */
const SWEEP_MS = 1000;
const MAX_PAYLOAD = 255;

interface SeenKind {
  readonly system: number;
  readonly component: number;
  readonly id: number;
  readonly firstAt: number;
  readonly payload: Buffer;
  length: number;
  at: number;
  bytes: number;
  /** Frames of the running second and of the five before it, each at its number modulo their count. */
  readonly perSecond: Uint32Array;
  second: number;
}

/** Which messages come, from whom and how often, with the newest of each. */
export class Inspector implements Part {
  readonly methods = { messages: ({ name }) => this.#messages(name) } satisfies Methods;
  readonly #clock: Clock;
  readonly #family: () => Family | null;
  /** By sender, then by message id. */
  readonly #senders = new Map<number, Map<number, SeenKind>>();
  #kept = 0;
  #sweptAt = -Infinity;
  #told: { readonly at: number; readonly key: string; readonly messages: readonly SeenMessage[] } | null =
    null;

  /** @param family of the vehicle, whose dialect decodes them */
  constructor(clock: Clock, family: () => Family | null) {
    this.#clock = clock;
    this.#family = family;
  }

  onFrame(frame: Frame): void {
    const now = this.#clock.now();
    const heard = this.#heard(frame, now);
    if (heard === null) return;
    advance(heard, now);
    const slot = heard.second % (SECONDS + 1);
    heard.perSecond[slot] = (heard.perSecond[slot] ?? 0) + 1;
    heard.at = now;
    heard.bytes += frame.length;
    heard.length = frame.buffer.copy(
      heard.payload,
      0,
      frame.payloadStart,
      frame.payloadStart + frame.payloadLength,
    );
  }

  onForwarded(frame: Frame): void {
    this.onFrame(frame);
  }

  /**
   * @param name of the one message that is wanted; null: all
   * @returns by sender and id; of the last 60 s, and older ones while there is room
   */
  #messages(name: string | null): readonly SeenMessage[] {
    const now = this.#clock.now();
    const family = this.#family();
    const key = `${name} ${family}`;
    if (this.#told?.key !== key || now - this.#told.at >= SAME_MS)
      this.#told = { at: now, key, messages: this.#look(name, family, now) };
    return this.#told.messages;
  }

  #look(name: string | null, family: Family | null, now: number): readonly SeenMessage[] {
    return [...this.#senders.values()]
      .flatMap((messages) => [...messages.values()])
      .sort((a, b) => a.system - b.system || a.component - b.component || a.id - b.id)
      .flatMap((heard) => {
        const message = messageOf(heard.id, family);
        if (name !== null && message?.MSG_NAME !== name) return [];
        advance(heard, now);
        const { system, component, id, bytes, at, payload, length } = heard;
        const isShown = message !== null && id !== MSG.SETUP_SIGNING; // which has the key
        return [
          {
            system,
            component,
            id,
            name: message?.MSG_NAME ?? null,
            hz: Math.round(rateOf(heard, now) * 10) / 10,
            bytes,
            age_s: Math.round(now - at) / 1000,
            last: isShown ? fieldsOf(message, payload.subarray(0, length)) : null,
          },
        ];
      });
  }

  #heard({ system, component, id }: Frame, now: number): SeenKind | null {
    const sender = system * 256 + component;
    const known = this.#senders.get(sender)?.get(id);
    if (known !== undefined) return known;
    if (this.#kept >= MAX_KEPT && !this.#sweep(now)) return null;
    const heard: SeenKind = {
      system,
      component,
      id,
      firstAt: now,
      payload: Buffer.alloc(MAX_PAYLOAD),
      length: 0,
      at: now,
      bytes: 0,
      perSecond: new Uint32Array(SECONDS + 1),
      second: Math.floor(now / 1000),
    };
    const messages = this.#senders.get(sender) ?? new Map<number, SeenKind>();
    this.#senders.set(sender, messages.set(id, heard));
    this.#kept++;
    return heard;
  }

  /** Forgets what has been silent. @returns whether there is room */
  #sweep(now: number): boolean {
    if (now - this.#sweptAt < SWEEP_MS) return false;
    this.#sweptAt = now;
    for (const [sender, messages] of this.#senders) {
      for (const [id, { at }] of messages) if (now - at > FORGET_MS && messages.delete(id)) this.#kept--;
      if (messages.size === 0) this.#senders.delete(sender);
    }
    return this.#kept < MAX_KEPT;
  }
}

/** Empties the seconds that have passed without a frame. */
function advance(heard: SeenKind, now: number): void {
  const second = Math.floor(now / 1000);
  if (second === heard.second) return;
  const passed = Math.min(second - heard.second, SECONDS + 1);
  for (let back = 0; back < passed; back++) heard.perSecond[(second - back) % (SECONDS + 1)] = 0;
  heard.second = second;
}

/** Frames a second, of the five whole seconds before this one; of one that is newer, since it was first heard. */
function rateOf({ perSecond, second, firstAt }: SeenKind, now: number): number {
  const all = perSecond.reduce((sum, each) => sum + each, 0);
  const running = perSecond[second % (SECONDS + 1)] ?? 0;
  const whole = second - Math.floor(firstAt / 1000) - 1;
  if (whole >= SECONDS) return (all - running) / SECONDS;
  return all / Math.max(1, (now - firstAt) / 1000);
}
