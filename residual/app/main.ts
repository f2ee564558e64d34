/** svc-residual: the composition root of the residual. The only file of the residual that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { connectionProof } from '../../shared/auth/principal-mark.ts';
import { configInForce } from '../../shared/config/in-force.ts';
import { sweepTemporary } from '../../shared/files/atomic-write.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Init, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { type HandlersOf, handlerMap } from '../../shared/routes/handler.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { listenUnix } from '../../shared/rpc/socket-file.ts';
import { VISION } from '../../shared/rpc/vision.ts';
import { recordingsDirectory } from '../../shared/video/recordings-directory.ts';
import type { Base } from './base.ts';
import { configHandlers } from './config/config-handlers.ts';
import { ConfigStore } from './config/store.ts';
import { pageHandlers } from './dashboard/page.ts';
import { openFlights } from './flights/open-flights.ts';
import { tlogFiles } from './kept-logs.ts';
import { LinkConnection } from './link-connection.ts';
import { openLogService } from './logs/log-service.ts';
import { openMaps } from './maps/open-maps.ts';
import { openPeripherals } from './peripherals/open-peripherals.ts';
import { openPlugins } from './plugins/plugins.ts';
import { reportHandlers } from './reports/report-handlers.ts';
import { Reporter } from './reports/reporter.ts';
import { createResidualServer } from './server.ts';
import { openSetup } from './setup/open-setup.ts';
import { tlogHandlers } from './tlogs/tlog-handlers.ts';
import { openUploads } from './uploads/open-uploads.ts';
import { openVideo } from './video/video.ts';
import { DetectionFeed } from './vision/detection-feed.ts';
import { openVision } from './vision/vision.ts';

type ResidualHandlers = HandlersOf<typeof ROWS, 'residual'>;

async function build({ secret }: Init, log: Logger): Promise<Program> {
  const paths = pathsFrom(process.env);
  const inForce = await configInForce(paths, 'svc-residual', log);
  const { config } = inForce;
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  await sweepTemporary([recordingsDirectory(config, paths), paths.maps], Date.now(), (sentence) =>
    log.warn(sentence),
  );
  const link = new LinkConnection(paths.linkSocket);
  const base: Base = {
    config,
    paths,
    link,
    trees: {
      sys: process.env['SVC_SYS_DIR'] ?? '/sys',
      dev: process.env['SVC_DEV_DIR'] ?? '/dev',
      proc: process.env['SVC_PROC_DIR'] ?? '/proc',
    },
    log,
  };
  const logs = openLogService(base, {
    recording: () => video.recording.files(),
    kept: {
      tlog: async () => tlogFiles(paths).names(),
      recording: async () => video.recording.kept(),
    },
  });
  const detections = new DetectionFeed();
  // Only svc-vision looks at pictures of svc-video.
  const video = await openVideo(base, () => detections.latest(VISION.server));
  const plugins = await openPlugins(base, {
    installed: import.meta.dirname.startsWith('/opt/svc/'),
    recording: video.recording,
    detections,
    picture: video.picture,
    logs: async (call) => logs.handlers['logs.get'](call),
  });
  const store = new ConfigStore(paths);
  const vision = openVision(base, {
    store,
    feed: detections,
    lease: video.lease,
    publish: plugins.publish,
    checker: join(import.meta.dirname, `../vision/check-model${extname(import.meta.filename)}`),
  });
  const peripherals = openPeripherals(base, {
    udev: process.env['SVC_UDEV_DIR'] ?? '/run/udev',
    config: store,
    publish: plugins.publish,
  });
  const uploads = openUploads(base, { recording: () => video.recording.files() });
  const reporter = new Reporter();
  const flights = openFlights(base, reporter, { recording: () => video.recording.files() });
  const maps = openMaps(base);
  const handlers: ResidualHandlers = {
    ...configHandlers(store),
    ...logs.handlers,
    ...video.handlers,
    ...plugins.handlers,
    ...vision.handlers,
    ...peripherals.handlers,
    ...maps.handlers,
    ...tlogHandlers(base),
    ...reportHandlers(base, reporter),
    ...uploads.handlers,
    ...(await openSetup(base, { config: store, video: () => video.known() })),
    ...pageHandlers(join(import.meta.dirname, '../web/dist')),
  };
  const server = createResidualServer({
    rows: ROWS,
    handlers: handlerMap(handlers),
    upgrades: new Map([...plugins.upgrades, ...vision.upgrades]),
    proof: connectionProof(secret),
    end: async (ids) => video.end(ids),
    log,
  });
  let closed: Promise<unknown> = Promise.resolve();
  const services = [
    // Log and video streams keep connections open, and end with these services.
    { name: 'connections', stop: async () => closed },
    named('link', link),
    named('logs', logs),
    named('video', video),
    named('plugins', plugins),
    named('vision', vision),
    named('peripherals', peripherals),
    named('uploads', uploads),
    named('flights', flights),
    named('maps', maps),
    {
      name: 'server',
      start: async () => listenUnix(server, paths.residualSocket),
      stop() {
        closed = new Promise((resolve) => server.close(resolve));
        server.closeIdleConnections();
      },
    },
  ];
  return { services, config: inForce };
}

const log = createLogger('svc-residual', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(init, log));
