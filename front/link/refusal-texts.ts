import type { Frame } from '../../shared/mavlink/frame.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { Clock } from './clock.ts';
import type { Encoder } from './encode.ts';
import type { WireRefusal } from './wire-guard.ts';

/** One line a second for each reason: a ground station that repeats itself need not read it a hundred times. */
const REPEAT_MS = 1000;
const SEVERITY_WARNING = 4;

const NAMES: ReadonlyMap<number, string> = new Map([
  [MSG.PARAM_SET, 'PARAM_SET'],
  [MSG.SETUP_SIGNING, 'SETUP_SIGNING'],
  [MSG.FILE_TRANSFER_PROTOCOL, 'FTP write'],
]);

/** What a ground station is told, as a STATUSTEXT of ours, when its frame was kept from the vehicle. */
export class RefusalTexts {
  readonly #clock: Clock;
  readonly #encoder: Encoder;
  readonly #saidAt = new Map<string, number>();

  constructor(clock: Clock, encoder: Encoder) {
    this.#clock = clock;
    this.#encoder = encoder;
  }

  /** The frame to send back; null for a reader, who knows that it only reads, and for a repetition. */
  answer(frame: Frame, why: WireRefusal): Buffer | null {
    const text = textOf(frame, why);
    if (text === null) return null;
    const now = this.#clock.now();
    if (now - (this.#saidAt.get(text) ?? -Infinity) < REPEAT_MS) return null;
    this.#saidAt.set(text, now);
    return this.#encoder.statusText(SEVERITY_WARNING, text);
  }
}

function textOf(frame: Frame, why: WireRefusal): string | null {
  switch (why) {
    case 'read-only':
      return null;
    case 'serial-control':
      return 'svc: SERIAL_CONTROL is switched off';
    case 'unsigned':
      return 'svc: refused: the vehicle takes signed frames only';
    case 'armed':
      return `svc: ${NAMES.get(frame.id) ?? 'storage/reboot'} refused while armed`;
  }
}
