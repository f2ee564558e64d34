/** svc-video: the composition root of the video engine. The only file of it that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { configInForce } from '../../shared/config/in-force.ts';
import { ownHosts } from '../../shared/config/own-endpoint.ts';
import { messageOf } from '../../shared/errors.ts';
import { turnFile } from '../../shared/fleet/turn-file.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { RADIO_PORTS, readActiveSlot } from '../../shared/radio-slots.ts';
import { parseHostPort, parseVideoOutput, started } from '../../shared/schemas/addresses.ts';
import { findCameras } from '../../shared/video/cameras.ts';
import { CsiCameras } from '../../shared/video/csi-cameras.ts';
import { recordingsDirectory } from '../../shared/video/recordings-directory.ts';
import { Encoders } from './engine/encoders.ts';
import { Outputs } from './outputs/outputs.ts';
import { mendNewest } from './recorder/torn-file.ts';
import { configuredCameras } from './sources/configured-cameras.ts';
import { Engine } from './video-engine.ts';
import { IceServers } from './viewers/ice-servers.ts';
import type { Relays } from './viewers/relays.ts';
import type { Unproven } from './viewers/unproven.ts';

async function build(log: Logger): Promise<Program> {
  const paths = pathsFrom(process.env);
  const inForce = await configInForce(paths, 'svc-video', log);
  const { config } = inForce;
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  const { agent, video } = config;
  const slot =
    agent.profile === 'ground-station'
      ? await readActiveSlot(paths.activeDrone, (sentence) => log.error(sentence))
      : 0;
  const port = Number(process.env['SVC_RADIO_VIDEO_PORT'] ?? RADIO_PORTS.video);
  const simulated = process.env['SVC_CAMERA_SIM_PORT'];
  const recordings = recordingsDirectory(config, paths);
  await mendNewest(recordings, (sentence) => log.error(sentence));
  const clock = systemVideoClock();
  const csi = new CsiCameras(() => performance.now());
  // A ground station receives video from the radio and does not send it back.
  const sends = agent.profile === 'drone' && video.radio !== '';
  const cameras = configuredCameras(config, slot === null ? null : port + slot, {
    clock,
    size: video.hero,
    passes265: video.codec === 'auto',
    extensionCameras: paths.cameraSockets,
    simulated: simulated === undefined ? null : Number(simulated),
    cameras: () => findCameras(process.env['SVC_SYS_DIR'], process.env['SVC_DEV_DIR']),
    csi: async () => csi.list(),
  });
  let relays: Relays | null = null;
  let unproven: Unproven | null = null;
  const engine = new Engine({
    cameras,
    encoders: new Encoders({
      choice: video.encoder,
      sys: process.env['SVC_SYS_DIR'],
      dev: process.env['SVC_DEV_DIR'],
    }),
    profile: video.hero,
    outputs: new Outputs({
      radio: sends ? started('video.radio', video.radio, parseHostPort) : null,
      outputs: video.outputs.map((text) => started('video.outputs', text, parseVideoOutput)),
      followPort: video.follow_gcs ? video.follow_port : null,
      sources: cameras.map(({ address }) => address),
      own: ownHosts,
      random: Math.random,
      clock,
      log,
    }),
    recordings: {
      directory: recordings,
      reserveBytes: video.recording.reserve_mb * 1e6,
    },
    // Loaded on demand: it takes 60 ms and 20 MB, which a node without viewers does not need.
    openViewer: async (offer, hooks, servers) => {
      const { Viewer } = await import('./viewers/viewer.ts');
      unproven ??= new (await import('./viewers/unproven.ts')).Unproven(() => performance.now());
      relays ??= new (await import('./viewers/relays.ts')).Relays({ now: () => performance.now(), log });
      return Viewer.open(offer, hooks, { relays, unproven, servers, log }, Math.random);
    },
    iceServers: new IceServers({
      configured: video.ice.servers,
      ofHub: async () => {
        try {
          return (await turnFile(paths.fleetTurn).read())?.ice_servers ?? [];
        } catch (error) {
          log.warn(`turn: what the hub gave cannot be used: ${messageOf(error)}`);
          return [];
        }
      },
      deviceId: paths.deviceId,
      wallClock: Date.now,
    }),
    socketPath: paths.videoSocket,
    liveSocketPath: paths.liveSocket,
    framesSocketPath: paths.framesSocket,
    clock,
    log,
    // Ends the process: the supervisor starts another.
    onStuck: (why) => {
      throw new Error(`video: ${why}`);
    },
  });
  return { services: [named('engine', engine)], config: inForce };
}

const log = createLogger('svc-video', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async () => build(log));
