import { readFile } from 'node:fs/promises';
import { every } from '../../../shared/async/every.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type AirFrame, decodeFrame, encodeFrame } from './air-frame.ts';
import { keyTag } from './key-file.ts';
import { LocalPort } from './local-port.ts';

const POLL_MS = 500;
/** The processes of wfb-ng follow their card at once. */
const CHANNEL_POLL_MS = 20;

interface AirOptions {
  readonly air: number;
  readonly peer: number;
  readonly airHost: string;
  readonly peerHost: string;
  readonly channel: number;
  readonly channelFile: string | null;
  readonly loss: number;
  readonly lossFile: string | null;
  readonly keyFile: string;
  /** @param tag of this end's own key, null without one */
  readonly onFrame: (frame: AirFrame, tag: Buffer | null) => void;
  /** Called when this end has another key. */
  readonly onKey: () => void;
  /** 0 to 1, as Math.random. */
  readonly random: () => number;
  readonly log: Logger;
}

/** What is between the two ends: a channel, a key, and frames that are lost. */
export class Air {
  readonly #options: AirOptions;
  readonly #port: LocalPort;
  #loss: number;
  #said = '';
  #tag: Buffer | null = null;
  #channel: number | null;
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(options: AirOptions) {
    this.#options = options;
    this.#loss = options.loss;
    this.#channel = options.channelFile === null ? options.channel : null;
    this.#port = new LocalPort({
      listen: options.air,
      to: options.peer,
      host: options.airHost,
      toHost: options.peerHost,
      onPacket: (bytes) => this.#heard(bytes),
    });
  }

  async start(): Promise<void> {
    await this.#port.start();
    await this.#poll();
    await this.#follow();
    this.#timers = [
      every(POLL_MS, 'loss and key of the simulated radio', async () => this.#poll()),
      ...(this.#options.channelFile === null
        ? []
        : [every(CHANNEL_POLL_MS, 'channel of the simulated radio', async () => this.#follow())]),
    ];
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#port.stop();
  }

  /** Null without a card. */
  get channel(): number | null {
    return this.#channel;
  }

  /** @returns false if nothing can be sent now, also without a key */
  send(frame: Omit<AirFrame, 'channel' | 'tag'>, sent: (ok: boolean) => void): boolean {
    if (this.#tag === null || this.#channel === null) return false;
    return this.#port.send(encodeFrame({ ...frame, channel: this.#channel, tag: this.#tag }), sent);
  }

  #heard(bytes: Buffer): void {
    const frame = decodeFrame(bytes);
    if (frame === null || frame.channel !== this.#channel) return;
    if (this.#options.random() * 100 < this.#loss) return;
    this.#options.onFrame(frame, this.#tag);
  }

  async #follow(): Promise<void> {
    const { channelFile } = this.#options;
    if (channelFile === null) return;
    const channel = Number((await readFile(channelFile, 'utf8').catch(absent)) ?? 0);
    this.#channel = Number.isInteger(channel) && channel > 0 ? channel : null; // none while it is being written
  }

  async #poll(): Promise<void> {
    const tag = await keyTag(this.#options.keyFile);
    const same = tag === null ? this.#tag === null : this.#tag?.equals(tag) === true;
    this.#tag = tag;
    if (!same) this.#options.onKey();
    const { lossFile, log } = this.#options;
    const text = lossFile === null ? null : await readFile(lossFile, 'utf8').catch(absent);
    if (text === null) return;
    const loss = Number(text);
    const valid = text.trim() !== '' && loss >= 0 && loss <= 100;
    const words = valid
      ? `${loss} % of the frames are lost`
      : `${lossFile ?? ''} has no number from 0 to 100 and changes nothing`;
    if (valid) this.#loss = loss;
    if (words !== this.#said) log.info(words);
    this.#said = words;
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
