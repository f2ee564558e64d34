import { SerialPort } from 'serialport';

/** An open serial port. `onClose` is called once, whichever side closed it; no data follows. */
export interface SerialLine {
  /** Bytes that wait for the line. */
  readonly queuedBytes: number;
  write(bytes: Uint8Array): void;
  listen(onData: (chunk: Uint8Array) => void, onClose: () => void): void;
  close(): Promise<void>;
}

/** @throws Error if the port does not exist, is in use, or does not support the rate */
export type OpenSerial = (path: string, baud: number) => Promise<SerialLine>;

/** 8N1, raw, exclusive (TIOCEXCL). HUPCL is off: dropping DTR at close resets some boards. */
export const openSerial: OpenSerial = async (path, baud) =>
  new Promise((resolve, reject) => {
    const port = new SerialPort({ path, baudRate: baud, autoOpen: false, lock: true, hupcl: false });
    port.open((error) => {
      if (error !== null && error !== undefined) reject(error);
      else resolve(new PortLine(port));
    });
  });

class PortLine implements SerialLine {
  readonly #port: SerialPort;

  constructor(port: SerialPort) {
    this.#port = port;
    // 'close' follows an error that ends the port; without a listener it would end the process.
    port.on('error', () => {
      if (port.isOpen) port.close();
    });
  }

  get queuedBytes(): number {
    return this.#port.writableLength;
  }

  write(bytes: Uint8Array): void {
    this.#port.write(bytes);
  }

  listen(onData: (chunk: Uint8Array) => void, onClose: () => void): void {
    this.#port.removeAllListeners('data');
    this.#port.removeAllListeners('close');
    this.#port.on('data', onData);
    this.#port.once('close', onClose);
    if (!this.#port.isOpen) queueMicrotask(onClose);
  }

  async close(): Promise<void> {
    const port = this.#port;
    if (!port.isOpen) return;
    await new Promise<void>((resolve) => {
      port.close(() => resolve());
    });
  }
}
