import { ApiError } from '../../../shared/errors.ts';
import type { MissionMessage, WireItem } from '../../../shared/mavlink/decode-mission.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import { entriesOf } from '../../../shared/member.ts';
import { ITEM_COMMANDS } from '../../../shared/mission/commands.ts';
import { isLarger } from '../../../shared/mission/fence-size.ts';
import { bounded, type MissionWarning } from '../../../shared/mission/warning.ts';
import type { MissionReadRequest, MissionWriteRequest } from '../../../shared/rpc/link.ts';
import type { MissionList, MissionWritten, WorkProgress } from '../../../shared/rpc/link-answers.ts';
import type { FirstItem, MissionItem, MissionPart } from '../../../shared/schemas/mission-item.ts';
import { OWN_COMPONENT } from '../encode.ts';
import type { Methods, Part } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { type Comparison, compare } from './compare.ts';
import { Download, type DownloadEnd } from './download.ts';
import { MissionCache } from './mission-cache.ts';
import { type HeldList, heldOf, PART_NAMES, rejected, silent, unsupported } from './mission-errors.ts';
import { MISSION_TYPE, MissionFrames, RESULT, resultName } from './mission-frames.ts';
import { RetryTime } from './retry-time.ts';
import type { Transfer, TransferOptions } from './transfer.ts';
import { Upload, type UploadEnd } from './upload.ts';
import { fromWire, toWire } from './wire.ts';

/** MAV_PROTOCOL_CAPABILITY of the lists besides the mission, which every vehicle has. */
const CAPABILITY: Readonly<Record<MissionPart, number>> = { mission: 0, fence: 16_384, rally: 32_768 };
/** ArduPilot answers each request by itself; others may want the next one only after the answer. */
const ARDUPILOT_WINDOW = 6;
/** A list that changes while it is read is read again; a vehicle that is busy is asked again: PX4 forgets a partner after 5 s. */
const READS = 3;
const BUSY_TRIES = 7;
const BUSY_WAIT_MS = 1000;
/** PX4 has told the list before for up to half a second after it had taken the new one (its links share the lists). */
const STALE_READS = 3;
/** ArduPilot has lost a fence that it had just taken (a circle alone: one in fifty, at the second try none). */
const WRITES_IN_ALL = 2;
/** The messages that begin a write, and where mission_type is in them. */
const WRITES: ReadonlyMap<number, number> = new Map([
  [MSG.MISSION_COUNT, 4],
  [MSG.MISSION_CLEAR_ALL, 2],
  [MSG.MISSION_WRITE_PARTIAL_LIST, 6],
]);
/** MAV_MISSION_TYPE_ALL */
const ALL = 255;

/** How long PX4 may take to say what it thinks of a mission. */
const VERDICT_MS = 1500;
const LOOK_MS = 50;
/** Modes of both firmwares that fly the mission. */
const FLIES_MISSION: ReadonlySet<string> = new Set(['AUTO', 'AUTO.MISSION']);

interface MissionsOptions extends Speaking {
  /** What the vehicle says while a list is written. */
  readonly listen: () => { readonly said: () => readonly string[]; readonly end: () => void };
  readonly onProgress: (progress: WorkProgress) => void;
  /** @throws ApiError E_TOO_FAR for a list with a place that is too far */
  readonly checkReach: (part: MissionPart, items: readonly MissionItem[]) => Promise<void>;
  /** @throws ApiError E_STICKS */
  readonly checkModes: (items: readonly MissionItem[], manual: boolean) => void;
}

/**
 * Mission, fence and rally points of the vehicle, both ways (https://mavlink.io/en/services/mission.html). One transfer at a time;
 * what another ground station transfers meanwhile ends in a retry or a clear error, never in a mix: what was written is read back
 * and compared.
 */
export class Missions implements Part {
  readonly methods = {
    mission_read: async (request) => this.read(request),
    mission_write: async (request) => this.write(request),
    mission_reach: async (request) => {
      await this.#checkBounds(request);
      return {};
    },
  } satisfies Methods;
  readonly #options: MissionsOptions;
  readonly #cache: MissionCache;
  #running: Running | null = null;
  /** Reads under way, for those who ask for the same. */
  readonly #reads = new Map<MissionPart, Promise<MissionList>>();
  /** Another station has written since the transfer began. */
  #disturbed = false;
  /** How often another station has written the list that was being transferred. */
  #foreignWrites = 0;
  readonly #payload = new Payload();
  #retryTime = new RetryTime();
  /** Grows with each session: what began in an earlier one is over. */
  #session = 0;

  constructor(options: MissionsOptions) {
    this.#options = options;
    this.#cache = new MissionCache(options.clock);
    const { messages } = options.vehicle;
    messages.on('mission', (message) => this.#onMessage(message));
    messages.on('missionIds', (ids) => this.#cache.onIds(ids, this.#first('mission')));
  }

  /** The items of a list: as they were read, while that holds (mission-cache.ts), null: not known; and read where they are not. */
  held(part: MissionPart): HeldItems {
    return {
      kept: () => this.#cache.get(part)?.items ?? null,
      read: async () => (await this.read({ part, refresh: false, token: '' })).items,
    };
  }

  /** The RPC method `mission_read`. */
  async read({ part, refresh, token }: MissionReadRequest): Promise<MissionList> {
    this.#checkVehicle(part);
    const cached = refresh ? null : this.#cache.get(part);
    if (cached !== null) return cached;
    const open = this.#reads.get(part);
    if (open !== undefined) return open; // two pages that are opened at once
    const reading = this.#alone(part, async () => this.#readBack(part, token, 'reading')).finally(() =>
      this.#reads.delete(part),
    );
    this.#reads.set(part, reading);
    return reading;
  }

  /** The RPC method `mission_write`. */
  async write(request: MissionWriteRequest): Promise<MissionWritten> {
    this.#checkVehicle(request.part);
    return this.#alone(request.part, async () => this.#write(request));
  }

  /**
   * The RPC method `mission_reach`: what `goto` refuses no mission and no rally point does, unless it is said (docs/contract/flight.md#missions), and
   * a fence is made larger by whoever may take it away.
   * @throws ApiError E_TOO_FAR, E_STICKS, E_SCOPE, and those of reading the fence
   */
  async #checkBounds({
    part,
    items,
    allow_far: allowFar = false,
    manual = false,
    may_widen: mayWiden = true,
  }: MissionWriteRequest): Promise<void> {
    const { vehicle, checkReach, checkModes } = this.#options;
    if (vehicle.target === null) throw new ApiError('E_NO_FC');
    if (part !== 'fence') {
      if (part === 'mission') checkModes(items, manual);
      if (!allowFar) await checkReach(part, items);
      return;
    }
    if (mayWiden || !isLarger(items, await this.held(part).read())) return;
    throw new ApiError(
      'E_SCOPE',
      'This fence is larger than the one that the vehicle has, so it needs the scope destructive.',
      { required: 'destructive' },
    );
  }

  #onMessage(message: MissionMessage): void {
    const { targetSystem, targetComponent, missionType } = message;
    const { encoder } = this.#options;
    const ours = targetSystem === encoder.system && targetComponent === OWN_COMPONENT;
    if (!ours) {
      // The end of another station's upload, or of its MISSION_CLEAR_ALL; that of a download it sends, and does not get.
      if (message.kind === 'ack' && message.result === RESULT.accepted) this.#onForeignWrite(missionType);
      return;
    }
    if (this.#running?.type === missionType) this.#running.transfer?.onMessage(message);
  }

  onForwarded(frame: Frame): void {
    const typeAt = WRITES.get(frame.id);
    if (typeAt !== undefined && frame.known) this.#onForeignWrite(this.#payload.load(frame).u8(typeAt));
  }

  /** A ground station writes a list. @param missionType MAV_MISSION_TYPE */
  #onForeignWrite(missionType: number): void {
    for (const [part, type] of entriesOf(MISSION_TYPE)) {
      if (missionType !== type && missionType !== ALL) continue;
      this.#cache.drop(part);
      if (this.#running?.part !== part) continue;
      this.#disturbed = true;
      this.#foreignWrites++;
    }
  }

  /** It may be another vehicle, or hold another list. */
  onSession(): void {
    this.#retryTime = new RetryTime();
    this.#session++;
    this.#cache.clear();
    this.#running?.transfer?.abort();
  }

  stop(): void {
    this.#session++;
    this.#running?.transfer?.abort();
  }

  #checkVehicle(part: MissionPart): void {
    const { vehicle } = this.#options;
    vehicle.reach();
    const { capabilities } = vehicle;
    const needed = CAPABILITY[part];
    if (capabilities !== null && (capabilities & needed) !== needed) throw unsupported(part);
  }

  async #alone<T>(part: MissionPart, work: () => Promise<T>): Promise<T> {
    if (this.#running !== null)
      throw new ApiError(
        'E_BUSY',
        `The ${PART_NAMES[this.#running.part]} is being transferred. Try again shortly.`,
      );
    this.#running = { part, type: MISSION_TYPE[part], transfer: null };
    try {
      return await work();
    } finally {
      this.#running = null;
    }
  }

  async #write(request: MissionWriteRequest): Promise<MissionWritten> {
    const { listen, vehicle } = this.#options;
    const before = vehicle.telemetry.mode;
    const watch = listen();
    try {
      const written = await this.#writeList(request);
      if (request.part !== 'mission') return written;
      const said = await this.#verdict(watch.said);
      const restarts = vehicle.telemetry.armed === true && before !== null && FLIES_MISSION.has(before);
      const warnings: MissionWarning[] = [
        ...said.map((text) => `The vehicle says of it: ${text}`),
        ...(restarts
          ? ['The vehicle was flying its mission: it flies the new one from its first item on.']
          : []),
        ...written.warnings,
      ];
      return { ...written, warnings: bounded(warnings) };
    } finally {
      watch.end();
    }
  }

  /** PX4 takes a mission, checks it, and says then, up to a second later, that it will not fly it (Navigator). */
  async #verdict(said: () => readonly string[]): Promise<readonly string[]> {
    const { clock, vehicle } = this.#options;
    const until = clock.now() + (vehicle.firmware === 'px4' ? VERDICT_MS : 0);
    while (said().length === 0 && clock.now() < until)
      await new Promise<void>((resolve) => {
        clock.after(LOOK_MS, resolve);
      });
    return said();
  }

  async #writeList({ part, items, token }: MissionWriteRequest): Promise<MissionWritten> {
    const { vehicle } = this.#options;
    const first = this.#first(part);
    const wire = toWire(items, first, vehicle.telemetry.home);
    const sent = fromWire(wire, first);
    for (let attempt = 1; ; attempt++) {
      const before = this.#foreignWrites;
      const opaqueId = await this.#send(part, wire, token);
      const { list, wrong, otherwise } = await this.#compared(part, sent, opaqueId, token);
      if (wrong === null) return { ...list, warnings: bounded(otherwise) };
      const isLost = list.count !== sent.length && this.#foreignWrites === before;
      if (isLost && attempt < WRITES_IN_ALL) continue;
      const sentence = `The vehicle does not hold what was sent, from item ${wrong.index + first} on: ${wrong.what}. Another ground station may have written too.`;
      throw rejected(sentence, wrong.index, 'DIFFERENT', heldOf(list));
    }
  }

  /** Uploads a list. @returns the vehicle's own id of it; 0 if it tells none */
  async #send(part: MissionPart, wire: readonly WireItem[], token: string): Promise<number> {
    const first = this.#first(part);
    this.#cache.drop(part);
    const { end, seq } = await this.#upload(part, wire, token);
    if (end === 'silent') throw silent(part, seq, first);
    if (end.kind === 'refused' && end.result === RESULT.unsupported && end.seq === null)
      throw unsupported(part);
    if (end.kind !== 'done') {
      const index = end.kind === 'refused' && end.seq !== null ? Math.max(0, end.seq - first) : null;
      const held = await this.#held(part);
      const name = resultName(end.result);
      if (end.kind === 'busy')
        throw new ApiError('E_BUSY', `The vehicle is in a transfer with another ground station (${name}).`, {
          held,
        });
      const { command, frame } = wire[end.seq ?? -1] ?? { command: 0, frame: 0 };
      const which =
        index === null
          ? `the ${PART_NAMES[part]}`
          : `item ${index + first} (${ITEM_COMMANDS.get(command)?.name ?? `command ${command}`} in frame ${frame})`;
      throw rejected(`The vehicle refused ${which} with ${name}.`, index, name, held);
    }
    return end.opaqueId;
  }

  /** Reads back what was written. @param opaqueId the vehicle's own id of it; 0 if it told none */
  async #compared(
    part: MissionPart,
    sent: readonly MissionItem[],
    opaqueId: number,
    token: string,
  ): Promise<Comparison & { readonly list: MissionList }> {
    for (let again = STALE_READS; ; again--) {
      const read = await this.#readWritten(part, token);
      const list = this.#keep(part, read.wire, read.opaqueId);
      const { wrong, otherwise } = compare(part, sent, list.items);
      const isSame = wrong === null && otherwise.length === 0;
      const isStale = read.opaqueId !== 0 && read.opaqueId !== opaqueId && !isSame;
      if (!isStale || again === 0) return { list, wrong, otherwise };
      await this.#pause();
    }
  }

  async #readWritten(part: MissionPart, token: string): Promise<WireList> {
    try {
      return await this.#readWire(part, token, 'reading back');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const sentence = `The vehicle took the ${PART_NAMES[part]}, but it could not be read back: ${error.message}`;
      throw new ApiError(error.code, sentence, { index: null, held: null });
    }
  }

  async #upload(
    part: MissionPart,
    wire: readonly WireItem[],
    token: string,
  ): Promise<{ end: UploadEnd | 'silent'; seq: number | null }> {
    for (let attempt = 1; ; attempt++) {
      const upload = new Upload(this.#transferOptions(part, token, 'sending'), wire);
      const end = await this.#run(upload);
      const again = end !== 'silent' && end.kind === 'busy' && upload.seq === null && attempt < BUSY_TRIES;
      if (!again) return { end, seq: upload.seq };
      await this.#pause();
    }
  }

  async #readBack(part: MissionPart, token: string, text: string): Promise<MissionList> {
    const { wire, opaqueId } = await this.#readWire(part, token, text);
    return this.#keep(part, wire, opaqueId);
  }

  /** The list as it is on the wire. @throws ApiError E_BUSY, E_NOT_IMPLEMENTED, E_UPSTREAM, E_TIMEOUT */
  async #readWire(part: MissionPart, token: string, text: string): Promise<WireList> {
    let refusal: DownloadEnd | null = null;
    let reads = 0;
    for (let attempt = 0; attempt < BUSY_TRIES && reads < READS; attempt++) {
      this.#disturbed = false;
      const window = this.#options.vehicle.firmware === 'ardupilot' ? ARDUPILOT_WINDOW : 1;
      const end = await this.#run(new Download(this.#transferOptions(part, token, text), window));
      if (end === 'silent') throw silent(part, null, 0);
      if (end.kind === 'done' && !this.#disturbed) return { wire: end.items, opaqueId: end.opaqueId };
      if (end.kind === 'refused' && end.result === RESULT.unsupported) throw unsupported(part);
      refusal = end;
      if (end.kind === 'refused') await this.#pause();
      else reads++;
    }
    if (refusal?.kind === 'refused' && refusal.result !== RESULT.denied && refusal.result !== RESULT.error)
      throw new ApiError(
        'E_UPSTREAM',
        `The vehicle does not tell its ${PART_NAMES[part]}: ${resultName(refusal.result)}.`,
      );
    throw new ApiError(
      'E_BUSY',
      `Another ground station is writing the ${PART_NAMES[part]}. Try again shortly.`,
    );
  }

  /** What the vehicle holds after a failure; null where it is not known. */
  async #held(part: MissionPart): Promise<HeldList | null> {
    try {
      return heldOf(await this.#readBack(part, '', ''));
    } catch (error) {
      if (error instanceof ApiError) return null;
      throw error;
    }
  }

  #keep(part: MissionPart, wire: readonly WireItem[], opaqueId: number): MissionList {
    const { clock } = this.#options;
    const items = fromWire(wire, this.#first(part));
    const list: MissionList = {
      items,
      count: items.length,
      from: 'vehicle',
      read_at: new Date(clock.wall()).toISOString(),
      id: opaqueId === 0 ? null : opaqueId,
    };
    this.#cache.keep(part, list);
    return list;
  }

  /** The vehicle's number of the first item to fly: ArduPilot's missions have home before it. */
  #first(part: MissionPart): FirstItem {
    return part === 'mission' ? this.#options.vehicle.firstItem : 0;
  }

  async #run<End>(transfer: Transfer<End>): Promise<End | 'silent'> {
    const session = this.#session;
    if (this.#running !== null) this.#running.transfer = transfer;
    const end = await transfer.run();
    if (session !== this.#session) return 'silent';
    return end;
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => this.#options.clock.after(BUSY_WAIT_MS, resolve));
  }

  #transferOptions(part: MissionPart, token: string, text: string): TransferOptions {
    const { clock, encoder, send, vehicle, onProgress } = this.#options;
    if (vehicle.target === null) throw new ApiError('E_NO_FC');
    const home = this.#first(part); // it travels with the items, and is none of them
    return {
      clock,
      retryTime: this.#retryTime,
      send,
      frames: new MissionFrames(encoder, vehicle.target, part),
      onProgress: (done, total) => {
        if (token === '') return;
        onProgress({ token, done: Math.max(0, done - home), total: Math.max(0, total - home), text });
      },
    };
  }
}

interface HeldItems {
  readonly kept: () => readonly MissionItem[] | null;
  /** Rejects where they cannot be read. */
  readonly read: () => Promise<readonly MissionItem[]>;
}

interface Running {
  readonly part: MissionPart;
  /** MAV_MISSION_TYPE */
  readonly type: number;
  /** Null between two transfers. */
  transfer: Pick<Transfer<unknown>, 'onMessage' | 'abort'> | null;
}

interface WireList {
  readonly wire: readonly WireItem[];
  readonly opaqueId: number;
}
