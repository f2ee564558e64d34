import { join } from 'node:path';
import { EndedCredentials } from '../../front/control/stores/ended.ts';
import { PinStore } from '../../front/control/stores/pin.ts';
import { SessionStore } from '../../front/control/stores/sessions.ts';
import { createLogger } from '../../shared/process/logger.ts';

export const silentLog = createLogger('test', 'silent');

/** Two clocks that move only when told to. */
export class TestClocks {
  wallMs = Date.UTC(2026, 0, 1);
  uptimeMs = 5000;
  readonly now = (): number => this.wallMs;
  readonly monotonic = (): number => this.uptimeMs;
  #livedBefore = 0;
  readonly lived = { id: '0123456789abcdef', now: (): number => this.#livedBefore + this.uptimeMs };

  advance(seconds: number): void {
    this.wallMs += seconds * 1000;
    this.uptimeMs += seconds * 1000;
  }

  /** An uptime that begins anew; what was lived goes on. */
  restart(): void {
    this.#livedBefore += this.uptimeMs;
    this.uptimeMs = 0;
  }
}

/** The PIN and the sessions of one node, as the front puts them together. */
export class PinNode {
  readonly clocks = new TestClocks();
  readonly dir: string;
  readonly pinFile: string;
  readonly sessionsFile: string;
  pairing = 'key one';
  /** Hashes begun; running now; the most that ran at once. */
  hashes = 0;
  running = 0;
  most = 0;
  pin: PinStore;
  sessions: SessionStore;
  ended: EndedCredentials | null = null;

  private constructor(dir: string) {
    this.dir = dir;
    this.pinFile = join(dir, 'dashboard-pin.json');
    this.sessionsFile = join(dir, 'sessions.json');
    [this.pin, this.sessions] = this.#stores();
  }

  static async open(dir: string): Promise<PinNode> {
    const node = new PinNode(dir);
    await node.restart();
    return node;
  }

  /** As a new process on the same files: nothing in memory, an uptime that begins anew. */
  async restart(): Promise<void> {
    await this.pin.stop();
    await this.sessions.stop();
    await this.ended?.written();
    this.clocks.restart();
    [this.pin, this.sessions] = this.#stores();
    await this.pin.start();
    await this.sessions.start();
  }

  #stores(): [PinStore, SessionStore] {
    const { now, lived } = this.clocks;
    const sessions = new SessionStore({
      file: this.sessionsFile,
      ended: (this.ended = new EndedCredentials(join(this.dir, 'ended'), silentLog)),
      now,
      lived,
      log: silentLog,
      binding: () => `${this.pin.fingerprint} ${this.pairing}`,
    });
    const pin = new PinStore({
      file: this.pinFile,
      now,
      lived,
      log: silentLog,
      onChange: async () => sessions.revokeAll(),
      onHash: (step) => {
        if (step === 1) this.hashes++;
        this.running += step;
        this.most = Math.max(this.most, this.running);
      },
    });
    return [pin, sessions];
  }
}
