import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import {
  common,
  type MavLinkData,
  type MavLinkDataConstructor,
  type MavLinkPacket,
  MavLinkPacketParser,
  MavLinkPacketSplitter,
  MavLinkProtocolV2,
  minimal,
} from 'node-mavlink';
import { SIM_HOME } from '../../shared/landscape/place.ts';
import { SimProcess } from '../sim/sim-process.ts';

const M_PER_DEGREE = 111_320;

/** What a held vehicle says of itself, whatever the simulated one behind it does. */
export interface Pose {
  readonly armed: boolean;
  /** Number of ArduPilot's mode. */
  readonly mode: number;
  /** MAV_STATE; 4 is ACTIVE, 5 is CRITICAL. */
  readonly state: number;
  /** Whether its checks before arming pass. */
  readonly healthy: boolean;
  /** m above home. */
  readonly height: number;
  /** m to the north and to the east of home. */
  readonly north: number;
  readonly east: number;
  /** °, clockwise from north. */
  readonly heading: number;
  /** m/s, ahead. */
  readonly speed: number;
  /** m/s, up. */
  readonly climb: number;
  /** °. */
  readonly roll: number;
  readonly pitch: number;
  /** %. */
  readonly battery: number;
  /** V. */
  readonly volts: number;
  readonly satellites: number;
  /** Number of the mission's item that is flown; null: no mission is flown. */
  readonly item: number | null;
}

const GUIDED = 4;
export const ON_THE_GROUND: Pose = {
  armed: false,
  mode: GUIDED,
  state: 3,
  healthy: true,
  height: 0,
  north: 0,
  east: 0,
  heading: 30,
  speed: 0,
  climb: 0,
  roll: 0,
  pitch: 0,
  battery: 96,
  volts: 12.4,
  satellites: 17,
  item: null,
};
export const IN_THE_AIR: Pose = {
  ...ON_THE_GROUND,
  armed: true,
  state: 4,
  height: 32.4,
  north: 74,
  east: 58,
  heading: 68,
  speed: 6.3,
  climb: 0.4,
  roll: 4,
  pitch: -6,
  battery: 71,
  volts: 11.6,
};

const ARMED = 128;
const PREARM = 0x1000_0000;
const NO_VALUE = 0xffff;
/** MAV_LANDED_STATE. */
const LANDED = { onGround: 1, inAir: 2 } as const;

type Held = (packet: MavLinkPacket, pose: Pose) => MavLinkData;

/** The message as it came, but for the members that are held. */
function entry<T extends MavLinkData>(
  type: MavLinkDataConstructor<T>,
  held: (pose: Pose, said: T) => Partial<T>,
): [number, Held] {
  return [
    type.MSG_ID,
    ({ protocol, payload }, pose) => {
      const said = protocol.data(payload, type);
      return Object.assign(said, held(pose, said));
    },
  ];
}

const rad = (degrees: number): number => (degrees * Math.PI) / 180;
const north = ({ heading, speed }: Pose): number => Math.cos(rad(heading)) * speed;
const east = ({ heading, speed }: Pose): number => Math.sin(rad(heading)) * speed;

function place(pose: Pose): { lat: number; lon: number; alt: number } {
  const perDegree = M_PER_DEGREE * Math.cos(rad(SIM_HOME.lat));
  return {
    lat: Math.round((SIM_HOME.lat + pose.north / M_PER_DEGREE) * 1e7),
    lon: Math.round((SIM_HOME.lon + pose.east / perDegree) * 1e7),
    alt: Math.round((SIM_HOME.alt + pose.height) * 1000),
  };
}

const HELD: ReadonlyMap<number, Held> = new Map([
  entry(minimal.Heartbeat, ({ armed, mode, state }, { baseMode }) => ({
    baseMode: armed ? baseMode | ARMED : baseMode & ~ARMED,
    customMode: mode,
    systemStatus: state,
  })),
  entry(common.SysStatus, ({ healthy, battery, volts }, { onboardControlSensorsHealth: health }) => ({
    onboardControlSensorsHealth: healthy ? health | PREARM : health & ~PREARM,
    voltageBattery: volts * 1000,
    currentBattery: 1200,
    batteryRemaining: battery,
  })),
  entry(common.BatteryStatus, ({ battery, volts }) => ({
    voltages: [volts * 1000, ...Array.from({ length: 9 }, () => NO_VALUE)],
    currentBattery: 1200,
    currentConsumed: 900,
    batteryRemaining: battery,
  })),
  entry(common.GpsRawInt, (pose) => ({
    ...place(pose),
    fixType: 6,
    vel: pose.speed * 100,
    satellitesVisible: pose.satellites,
  })),
  entry(common.Attitude, ({ roll, pitch, heading }) => ({
    roll: rad(roll),
    pitch: rad(pitch),
    yaw: rad(heading),
    rollspeed: 0,
    pitchspeed: 0,
    yawspeed: 0,
  })),
  entry(common.GlobalPositionInt, (pose) => ({
    ...place(pose),
    relativeAlt: Math.round(pose.height * 1000),
    vx: Math.round(north(pose) * 100),
    vy: Math.round(east(pose) * 100),
    vz: Math.round(-pose.climb * 100),
    hdg: pose.heading * 100,
  })),
  entry(common.VfrHud, (pose) => ({
    airspeed: pose.speed,
    groundspeed: pose.speed,
    heading: pose.heading,
    throttle: 40,
    alt: SIM_HOME.alt + pose.height,
    climb: pose.climb,
  })),
  entry(common.ExtendedSysState, ({ height }) => ({
    landedState: height === 0 ? LANDED.onGround : LANDED.inAir,
  })),
  entry(common.MissionCurrent, ({ item }, { seq }) => ({
    seq: item ?? seq,
    missionState: item === null ? common.MissionState.NOT_STARTED : common.MissionState.ACTIVE,
    missionMode: item === null ? 2 : 1,
  })),
]);

/**
 * A simulated vehicle whose figures stand still: a way between the node and svc-sim, on which everything passes (parameters,
 * missions, acknowledgements), and what the vehicle tells of itself is what is held. Decoded and encoded by node-mavlink.
 */
export class HeldVehicle implements AsyncDisposable {
  readonly sim: SimProcess;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #protocol = new MavLinkProtocolV2(1, 1);
  #pose: Pose = ON_THE_GROUND;
  #silent = false;
  #seq = 0;

  private constructor(sim: SimProcess) {
    this.sim = sim;
    this.#server = createServer((node) => this.#join(node));
  }

  /** @param args of svc-sim */
  static async start(...args: string[]): Promise<HeldVehicle> {
    const held = new HeldVehicle(await SimProcess.start('--param-rate', '4000', ...args));
    held.#server.listen(0, '127.0.0.1');
    await once(held.#server, 'listening');
    return held;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From its next messages on. */
  hold(pose: Pose): void {
    this.#pose = pose;
    this.#silent = false;
  }

  /** Nothing comes any more, until it is held again. */
  silence(): void {
    this.#silent = true;
  }

  /** STATUSTEXT. @param severity MAV_SEVERITY */
  say(text: string, severity = common.MavSeverity.WARNING): void {
    const message = Object.assign(new common.StatusText(), { severity, text, id: 0, chunkSeq: 0 });
    this.#seq = (this.#seq + 1) & 0xff;
    for (const node of this.#sockets) node.write(this.#protocol.serialize(message, this.#seq));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await this.sim[Symbol.asyncDispose]();
  }

  #join(node: Socket): void {
    const vehicle = connect(this.sim.port, '127.0.0.1');
    this.#sockets.add(node);
    for (const [one, other] of [
      [node, vehicle],
      [vehicle, node],
    ] as const) {
      one.on('error', () => undefined); // counts as closed
      one.once('close', () => {
        other.destroy();
        this.#sockets.delete(node);
      });
    }
    node.pipe(vehicle);
    vehicle
      .pipe(new MavLinkPacketSplitter())
      .pipe(new MavLinkPacketParser())
      .on('data', (packet: MavLinkPacket) => {
        if (this.#silent) return;
        const held = HELD.get(packet.header.msgid);
        node.write(
          held === undefined
            ? packet.buffer
            : this.#protocol.serialize(held(packet, this.#pose), packet.header.seq),
        );
      });
  }
}
