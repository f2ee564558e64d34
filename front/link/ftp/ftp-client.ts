import type { FtpMessage } from '../../../shared/mavlink/decode.ts';
import { OWN_COMPONENT } from '../encode.ts';
import type { Part } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { FtpFile } from './ftp-file.ts';

/** Who goes first: parameters are needed to fly, descriptions to read. */
export const FTP_PRIORITY = { params: 0, metadata: 1 } as const;

const MAX_WAITING = 8;

type FtpClientOptions = Pick<Speaking, 'clock' | 'vehicle' | 'encoder' | 'ask'>;

/** @param file null if the vehicle refused (`refused`), or stopped answering, or too many transfers waited */
type OnFtpEnd = (file: Buffer | null, refused: boolean) => void;

interface Job {
  readonly path: string;
  readonly priority: number;
  readonly onEnd: OnFtpEnd;
}

/**
 * The only user of MAVLink FTP in this process. ArduPilot has one session for each link, so there is one transfer at a time;
 * one of a higher priority takes the place of a running one, which begins again later.
 */
export class FtpClient implements Part {
  readonly #options: FtpClientOptions;
  #waiting: readonly Job[] = [];
  #running: { readonly job: Job; readonly file: FtpFile } | null = null;
  #seq = 0;

  constructor(options: FtpClientOptions) {
    this.#options = options;
    const { vehicle, encoder } = options;
    vehicle.messages.on('ftp', (message) => {
      // Addressed to us, not to a ground station whose answers pass through here too.
      const { targetSystem, targetComponent } = message;
      if (targetSystem === encoder.system && targetComponent === OWN_COMPONENT) this.onMessage(message);
    });
  }

  /** Reads a file of at most 1 MiB. @returns cancels it, without a call of `onEnd` */
  read(path: string, priority: number, onEnd: OnFtpEnd): () => void {
    const job: Job = { path, priority, onEnd };
    if (this.#waiting.length >= MAX_WAITING) {
      onEnd(null, false);
      return () => undefined;
    }
    this.#waiting = [...this.#waiting, job].toSorted((a, b) => a.priority - b.priority);
    const running = this.#running;
    if (running !== null && running.job.priority > priority) {
      this.#stop();
      this.#waiting = [...this.#waiting, running.job].toSorted((a, b) => a.priority - b.priority);
    }
    this.#next();
    return () => this.#cancel(job);
  }

  onMessage(message: FtpMessage): void {
    this.#running?.file.onMessage(message);
  }

  /** Called a few times a second. */
  tick(): void {
    this.#running?.file.tick();
  }

  #next(): void {
    if (this.#running !== null) return;
    const [job, ...others] = this.#waiting;
    if (job === undefined) return;
    this.#waiting = others;
    const file: FtpFile = new FtpFile({
      ...this.#options,
      path: job.path,
      seq: this.#seq,
      onEnd: (bytes, refused) => {
        this.#seq = file.seq;
        this.#running = null;
        try {
          job.onEnd(bytes, refused);
        } finally {
          this.#next(); // the others wait for it, whatever became of this one
        }
      },
    });
    this.#running = { job, file };
    file.start();
  }

  #cancel(job: Job): void {
    this.#waiting = this.#waiting.filter((each) => each !== job);
    if (this.#running?.job !== job) return;
    this.#stop();
    this.#next();
  }

  #stop(): void {
    if (this.#running === null) return;
    this.#running.file.cancel();
    this.#seq = this.#running.file.seq;
    this.#running = null;
  }
}
