import type { ReadBytes } from '../../../../../../../shared/logs/log-bytes.ts';

/** The bytes of a log, wherever they are kept. */
export interface LogFile {
  readonly size: number;
  readonly read: ReadBytes;
}

/** A part of the file that moves on with the rows that are read. */
export class RowWindow {
  readonly view: DataView;
  readonly #file: LogFile;
  readonly #bytes: Uint8Array;
  #from = 0;
  #to = 0;

  /** @param room bytes, more than a row has */
  constructor(file: LogFile, room: number) {
    this.#file = file;
    this.#bytes = new Uint8Array(Math.min(room, file.size));
    this.view = new DataView(this.#bytes.buffer);
  }

  /** Brings a row into `view`. @returns where it begins there */
  at(place: number, rowBytes: number): number {
    const end = Math.min(place + rowBytes, this.#file.size);
    if (place < this.#from || end > this.#to) {
      const wanted = Math.min(this.#bytes.length, this.#file.size - place);
      this.#from = place;
      this.#to = place + this.#file.read(this.#bytes.subarray(0, wanted), place);
      // Of a file that has been cut since it was opened nothing old may be read.
      this.#bytes.fill(0, this.#to - this.#from);
    }
    return place - this.#from;
  }
}
