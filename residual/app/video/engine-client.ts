import { connect, type Socket } from 'node:net';
import { ApiError } from '../../../shared/errors.ts';
import { RpcClient } from '../../../shared/rpc/rpc.ts';
import type { AccessUnit, Profile } from '../../video/engine/picture.ts';
import {
  type EngineStatus,
  MAX_UNIT_BYTES,
  MEDIA_HEADER_BYTES,
  type Snapshot,
} from '../../video/protocol.ts';
import type { Recorded, RecordingStatus } from '../../video/recorder/recorder.ts';

const CALL_MS = 5000;
const RECONNECT_MS = 100;

export interface EngineClientOptions {
  readonly controlSocket: string;
  readonly mediaSocket: string;
  /** svc-video came up, or its state changed. */
  readonly onStatus: (status: EngineStatus, isNew: boolean) => void;
  readonly onUnit: (unit: AccessUnit) => void;
}

/** svc-video as the residual sees it. Pictures flow only while somebody watches. */
export class EngineClient {
  readonly #options: EngineClientOptions;
  readonly #rpc: RpcClient;
  #status: EngineStatus | null = null;
  #fresh = true;
  #media: Socket | null = null;
  #watching = false;
  #retry: NodeJS.Timeout | null = null;

  constructor(options: EngineClientOptions) {
    this.#options = options;
    this.#rpc = new RpcClient({
      path: options.controlSocket,
      peer: 'svc-video',
      onConnection: (connected) => {
        this.#fresh = true;
        if (!connected) this.#status = null;
      },
      onEvent: (event, data) => {
        if (event !== 'status') return;
        this.#status = data as EngineStatus;
        const isNew = this.#fresh;
        this.#fresh = false;
        options.onStatus(this.#status, isNew);
      },
    });
  }

  start(): void {
    this.#rpc.start();
  }

  stop(): void {
    this.watch(false);
    this.#rpc.stop();
  }

  /** What svc-video last said; null while it is away. */
  get status(): EngineStatus | null {
    return this.#status;
  }

  /** @throws ApiError E_NO_PIPELINE, E_TIMEOUT */
  async profile(profile: Profile): Promise<Profile> {
    return (await this.#call('profile', profile)) as Profile;
  }

  /** @throws ApiError E_NO_FRAME, E_NO_PIPELINE */
  async snapshot(): Promise<{ readonly jpeg: Buffer; readonly capturedAt: string }> {
    const { jpeg_base64, captured_at } = (await this.#call('snapshot', null)) as Snapshot;
    return { jpeg: Buffer.from(jpeg_base64, 'base64'), capturedAt: captured_at };
  }

  /** @throws ApiError E_RECORDING_ACTIVE, E_DISK_FULL, E_NO_PIPELINE, E_STORE */
  async startRecording(hint: string | null): Promise<RecordingStatus> {
    return (await this.#call('record_start', { hint })) as RecordingStatus;
  }

  /** @throws ApiError E_RECORDING_NOT_ACTIVE, E_NO_PIPELINE */
  async stopRecording(): Promise<Recorded> {
    return (await this.#call('record_stop', null)) as Recorded;
  }

  /** Without an answer: the next picture shows. */
  requestKey(): void {
    this.#call('key', null).catch(() => undefined); // away: its first picture will be a key frame anyway
  }

  /** Whether pictures are to flow. */
  watch(wanted: boolean): void {
    if (this.#watching === wanted) return;
    this.#watching = wanted;
    if (wanted) this.#open();
    else {
      if (this.#retry !== null) clearTimeout(this.#retry);
      this.#media?.destroy();
    }
  }

  async #call(method: string, params: unknown): Promise<unknown> {
    try {
      return await this.#rpc.call(method, params, CALL_MS);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'E_UPSTREAM_DOWN') throw error;
      throw new ApiError(
        'E_NO_PIPELINE',
        'The video process is not running at the moment.',
        {},
        { 'retry-after': '1' },
      );
    }
  }

  #open(): void {
    this.#retry = null;
    const socket = connect(this.#options.mediaSocket);
    this.#media = socket;
    let held: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (;;) {
        if (held.length < MEDIA_HEADER_BYTES) return;
        const length = held.readUInt32BE(0);
        if (length > MAX_UNIT_BYTES) {
          socket.destroy();
          return;
        }
        const end = MEDIA_HEADER_BYTES + length;
        if (held.length < end) return;
        this.#options.onUnit({
          data: held.subarray(MEDIA_HEADER_BYTES, end),
          key: held[4] === 1,
          at: held.readDoubleBE(5),
          capturedAt: held.readDoubleBE(13),
        });
        held = held.subarray(end);
      }
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      if (this.#media === socket) this.#media = null;
      if (this.#watching) this.#retry = setTimeout(() => this.#open(), RECONNECT_MS);
    });
  }
}
