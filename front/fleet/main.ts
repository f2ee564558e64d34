/** svc-fleet: the composition root of the fleet's client. The only file of it that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { every } from '../../shared/async/every.ts';
import { Serial } from '../../shared/async/serial.ts';
import { bootTime } from '../../shared/boot-clock.ts';
import { messageOf } from '../../shared/errors.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Init, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { FLEET } from '../../shared/rpc/fleet.ts';
import { LINK } from '../../shared/rpc/link.ts';
import { Membership, type MembershipOptions } from './membership.ts';
import { Pictures } from './pictures.ts';

/** A state of svc-link counts for so long. */
const STALE_MS = 3000;
const LOOK_MS = 1000;

/** What the supervisor has read in the config: reading it here would take a tenth of this process's memory. */
function settings(): MembershipOptions['config'] {
  const { values } = parseArgs({
    options: {
      'telemetry-hz': { type: 'string', default: '1' },
      'telemetry-fields': { type: 'string', default: '' },
      'queue-mb': { type: 'string', default: '1' },
    },
  });
  return {
    telemetry_hz: Number(values['telemetry-hz']),
    telemetry_fields: values['telemetry-fields'].split(','),
    queue_mb: Number(values['queue-mb']),
  };
}

async function build({ nodeStartedAt }: Init, log: Logger): Promise<Program> {
  const paths = pathsFrom(process.env);
  await mkdir(paths.state, { recursive: true, mode: 0o755 });
  const changes = new Serial();
  const control = clientOf(FLEET, {
    path: paths.fleetSocket,
    listeners: {
      place: (place) => {
        changes
          .run(async () => membership.enter(place))
          .catch((error: unknown) => log.error(`the fleet's place: ${messageOf(error)}`));
      },
      uplink: (uplink) => membership.uplinkIs(uplink),
    },
  });
  const pictures = new Pictures(paths.videoSocket);
  const membership = new Membership({
    control: control.calls,
    queuePath: paths.fleetQueue,
    flights: paths.flights,
    config: settings(),
    picture: async () => pictures.newest(),
    run: `${bootTime().boot_id} ${nodeStartedAt}`,
    log,
  });
  let heardAt = performance.now();
  const link = clientOf(LINK, {
    path: paths.linkSocket,
    listeners: {
      state: (state) => {
        heardAt = performance.now();
        membership.see(state);
      },
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const watch = {
    name: 'watch of svc-link',
    start: () => {
      timer = every(LOOK_MS, 'watch of svc-link', () => {
        if (performance.now() - heardAt > STALE_MS) membership.see(null);
      });
    },
    stop: () => clearInterval(timer),
  };
  return {
    services: [
      { name: 'fleet', stop: async () => changes.run(async () => membership.enter(null)) },
      named('watch', watch),
      { name: 'pictures', stop: () => pictures.stop() },
      named('link', link),
      named('control', control),
    ],
  };
}

const log = createLogger('svc-fleet', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(init, log));
