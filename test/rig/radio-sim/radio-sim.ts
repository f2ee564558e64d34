import { every } from '../../../shared/async/every.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { named, type Service } from '../../../shared/process/services.ts';
import { frequencyOf } from '../../../shared/wifi-channel.ts';
import { Air } from './air.ts';
import type { StreamName } from './air-frame.ts';
import { Gather } from './gather.ts';
import { LocalPort } from './local-port.ts';
import type { RadioSimOptions } from './options.ts';
import { radioStatus } from './radio-status.ts';
import { Receiver } from './receiver.ts';
import { ReportServer } from './report-server.ts';
import { Sender } from './sender.ts';
import { settingsReport } from './settings-report.ts';
import { Tunnel } from './tunnel.ts';

const INTERVAL_MS = 1000;

/** The services of one end of a simulated radio: wfb-ng as the node sees it, on a simulated air. */
export function radioSim(options: RadioSimOptions, log: Logger): readonly Service[] {
  const { end, air: airPort, video: videoPort, mavlink: mavlinkPort, fecK, fecN, tunnel: at } = options;
  const drone = end === 'drone';
  const now = (): number => performance.now();
  const sender = (stream: StreamName, k: number, n: number): Sender =>
    new Sender({
      stream,
      k,
      n,
      mcs: options.mcs,
      bandwidth: options.bandwidth,
      transmit: (frame, sent) => air.send(frame, sent),
      now,
    });
  const gather = new Gather((packet) => senders.mavlink.send(packet));
  const video = new LocalPort({
    listen: drone ? videoPort : 0,
    to: drone ? null : videoPort,
    onPacket: (packet) => senders.video?.send(packet),
  });
  const mavlink = new LocalPort({
    listen: drone ? mavlinkPort : 0,
    to: drone ? null : mavlinkPort,
    onPacket: (packet) => gather.add(packet),
  });
  const tunnel = new Tunnel({ end, ...at, send: (packet) => senders.tunnel.send(packet), now });
  const receivers = {
    video: drone ? null : new Receiver('video', (packet) => video.send(packet)),
    mavlink: new Receiver('mavlink', (packet) => mavlink.send(packet)),
    tunnel: new Receiver('tunnel', (packet) => tunnel.receive(packet)),
  };
  const air: Air = new Air({
    ...options,
    air: airPort,
    onFrame: (frame, tag) => receivers[frame.stream]?.receive(frame, tag),
    onKey: () => present(senders).forEach((each) => each.renew()),
    random: Math.random,
    log,
  });
  const senders = {
    video: drone ? sender('video', fecK, fecN) : null,
    mavlink: sender('mavlink', 1, 2),
    tunnel: sender('tunnel', 1, 2),
  };
  const reports = new ReportServer(options.api, settingsReport(options));
  let seq = 0;
  const tell = (): void => {
    const timestamp = Date.now() / 1000;
    const freq = frequencyOf(air.channel ?? options.channel);
    for (const each of present(senders)) {
      reports.tell(each.report(timestamp));
      each.announce();
    }
    for (const each of present(receivers)) {
      const report = each.report(timestamp, freq);
      reports.tell(report);
      if (each === receivers.mavlink) mavlink.send(radioStatus(report, seq++));
    }
  };
  let timer: NodeJS.Timeout | null = null;
  return [
    named('air', air),
    named('video', video),
    named('MAVLink', mavlink),
    named('MAVLink frames that wait', gather),
    named('tunnel', tunnel),
    named('JSON API', reports),
    {
      name: 'reports',
      start: () => {
        timer = every(INTERVAL_MS, 'reports of the simulated radio', tell);
      },
      stop: () => {
        if (timer !== null) clearInterval(timer);
      },
    },
  ];
}

function present<T>(streams: Readonly<Record<StreamName, T | null>>): readonly T[] {
  return [streams.video, streams.mavlink, streams.tunnel].filter((each) => each !== null);
}
