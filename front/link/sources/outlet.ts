import { frameAt } from '../../../shared/mavlink/frame.ts';
import { targetOf } from '../router/addresses.ts';
import { type LoopGuard, OWN_TO_SOURCE } from '../router/loop-guard.ts';
import type { Arming } from '../vehicle/arming.ts';
import type { OldProtocol } from './old-protocol.ts';
import type { Transport } from './transport.ts';

interface OutletOptions {
  readonly transport: Transport;
  readonly arming: Arming;
  readonly loops: LoopGuard;
  readonly oldProtocol: OldProtocol;
  /** Gets what has left. */
  readonly onLeft: (bytes: Buffer) => void;
}

/** The only way to the vehicle, for our own frames and everybody's: whatever may arm it is seen here. */
export class Outlet {
  readonly #options: OutletOptions;

  constructor(options: OutletOptions) {
    this.#options = options;
  }

  /** A v2 frame of ours; its echo is known as one. @returns false when the bytes were dropped */
  readonly send = (bytes: Buffer): boolean => {
    this.#options.loops.rememberOwn(bytes, OWN_TO_SOURCE);
    return this.leave(bytes);
  };

  /** A frame of whoever has sent it. @returns false when the bytes were dropped */
  readonly leave = (bytes: Buffer): boolean => {
    const { transport, arming, oldProtocol, onLeft } = this.#options;
    const spoken = oldProtocol.translated(bytes);
    if (spoken === null) return false;
    const undo = arming.leaving(bytes);
    const left = transport.write(spoken, targetOf(frameAt(bytes)));
    if (left) onLeft(bytes);
    else undo();
    return left;
  };
}
