import { signal } from '@preact/signals';
import { memberOf } from '../../../../../../shared/member.ts';
import { Stream } from '../../../api/socket.ts';
import type { StickFunction } from './shape.ts';

/** The sticks on their way to the node. */

/** 25 times a second: the node lets go after 0.15 s of silence. */
const EVERY_MS = 40;
const MIDDLE = 500;
const FULL = 1000;
/** As the node asks for: nobody takes over with a stick pushed. */
const REST = 0.1;

/** -1 to 1 each; null: there is nothing to read, such as a gamepad that was pulled out. */
type ReadSticks = () => Readonly<Record<StickFunction, number>> | null;

interface HoldState {
  /** `resting`: waits until the sticks rest in the middle; `lost`: what they are read from has gone. */
  readonly phase: 'off' | 'connecting' | 'resting' | 'flying' | 'other' | 'lost';
  /** Of the node; null: none. */
  readonly refusal: string | null;
}

export const holdState = signal<HoldState>({ phase: 'off', refusal: null });

/** Sends the sticks until `stop`, or until there is nothing to read: then nothing more is sent, and the vehicle decides. */
export class StickHold {
  readonly #read: ReadSticks;
  readonly #stream: Stream;
  readonly #timer: ReturnType<typeof setInterval>;
  #rested = false;
  #open = false;
  #holder: unknown = null;

  constructor(read: ReadSticks) {
    this.#read = read;
    holdState.value = { phase: 'connecting', refusal: null };
    this.#stream = new Stream('manual.ws.ws', (text) => this.#told(text), {
      silenceMs: null,
      onOpen: (open) => {
        this.#open = open;
        // After a break somebody takes over anew.
        this.#rested = false;
        this.#holder = null;
      },
    });
    this.#timer = setInterval(() => this.#send(), EVERY_MS);
    document.addEventListener('visibilitychange', this.#hidden);
  }

  stop(): void {
    this.#end({ phase: 'off', refusal: null });
  }

  readonly #hidden = (): void => {
    // A browser slows the timers of a page that nobody sees.
    if (document.hidden) this.stop();
  };

  #end(last: HoldState): void {
    clearInterval(this.#timer);
    document.removeEventListener('visibilitychange', this.#hidden);
    this.#stream.stop();
    holdState.value = last;
  }

  #send(): void {
    const now = this.#read();
    if (now === null) return this.#end({ phase: 'lost', refusal: null });
    if (!this.#open) return this.#show('connecting');
    if (!this.#rested) {
      const pushed = Math.max(...Object.values(now).map((value) => Math.abs(value)));
      if (pushed > REST) return this.#show('resting');
      this.#rested = true;
    }
    const { forward, right, height, turn } = now;
    const message = {
      type: 'manual',
      x: Math.round(forward * FULL),
      y: Math.round(right * FULL),
      z: Math.round(MIDDLE + height * MIDDLE),
      r: Math.round(turn * FULL),
    };
    this.#stream.send(JSON.stringify(message));
    // Only the node knows whose sticks fly.
    this.#show(this.#holder === 'you' ? 'flying' : this.#holder === 'other' ? 'other' : 'connecting');
  }

  #show(phase: HoldState['phase']): void {
    if (holdState.value.phase !== phase) holdState.value = { ...holdState.value, phase };
  }

  #told(text: string): void {
    const message: unknown = JSON.parse(text);
    if (memberOf(message, 'type') === 'error') {
      this.#rested = false;
      holdState.value = { ...holdState.value, refusal: String(memberOf(message, 'detail')) };
      return;
    }
    this.#holder = memberOf(message, 'holder');
    if (this.#holder === 'you') holdState.value = { phase: 'flying', refusal: null };
  }
}
