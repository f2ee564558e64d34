/** `npm run bench [-- connector|copilot|extensions|fleet|flight-data|footprint|front|framing|hub-command|hub-lists|landscape|link|log-viewer|logs|map-frames|missions|nat-video|page|relay|replicas|startup|thin-video|tls|video|vision ...]`: prints a table, writes bench-results/<time>.json. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { commitOf } from '../support/machine-facts.ts';
import { ROOT } from '../support/node.ts';
import { benchConnector } from './connector.ts';
import { benchCopilot } from './copilot.ts';
import { benchExtensions } from './extensions.ts';
import { benchFleet } from './fleet.ts';
import { benchFlightData } from './flight-data.ts';
import { benchFootprint } from './footprint.ts';
import { benchFraming } from './framing.ts';
import { benchFront } from './front.ts';
import { benchHubCommand } from './hub-command.ts';
import { benchHubLists } from './hub-lists.ts';
import { benchLandscape } from './landscape.ts';
import { benchLink } from './link.ts';
import { benchLogViewer } from './log-viewer.ts';
import { benchLogs } from './logs.ts';
import { benchMapFrames } from './map-frames.ts';
import { benchMissions } from './missions.ts';
import type { BenchName } from './names.ts';
import { benchNatVideo } from './nat-video.ts';
import { benchPage } from './page.ts';
import { benchRelay } from './relay.ts';
import { benchReplicas } from './replicas.ts';
import type { Result } from './result.ts';
import { benchStartup } from './startup.ts';
import { benchThinVideo } from './thin-video.ts';
import { benchTls } from './tls.ts';
import { benchVideo } from './video.ts';
import { benchVision } from './vision.ts';

const BENCHES: Readonly<Record<BenchName, () => Promise<readonly Result[]>>> = {
  connector: benchConnector,
  copilot: benchCopilot,
  extensions: benchExtensions,
  fleet: benchFleet,
  'flight-data': benchFlightData,
  footprint: benchFootprint,
  framing: benchFraming,
  front: benchFront,
  'hub-command': benchHubCommand,
  'hub-lists': benchHubLists,
  landscape: benchLandscape,
  link: benchLink,
  'log-viewer': benchLogViewer,
  logs: benchLogs,
  'map-frames': benchMapFrames,
  missions: benchMissions,
  'nat-video': benchNatVideo,
  page: benchPage,
  relay: benchRelay,
  replicas: benchReplicas,
  startup: benchStartup,
  'thin-video': benchThinVideo,
  tls: benchTls,
  video: benchVideo,
  vision: benchVision,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(
    `no such bench: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}

const results: Result[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const result of await bench()) {
    results.push({ ...result, name: `${name}: ${result.name}` });
    const { value, unit, goal, higher, note } = result;
    const met =
      goal === undefined ? '' : (higher === true ? value >= goal : value <= goal) ? 'met' : 'MISSED';
    const wanted = goal === undefined ? '' : `goal ${higher === true ? '>=' : '<='} ${goal} ${met}`;
    process.stdout.write(
      `${`${name}: ${result.name}`.padEnd(64)} ${value.toFixed(value < 100 ? 2 : 0).padStart(12)} ${unit.padEnd(9)} ${wanted}${note === undefined ? '' : ` (${note})`}\n`,
    );
  }
}
const directory = join(ROOT, 'bench-results');
mkdirSync(directory, { recursive: true });
const file = join(directory, `${new Date().toISOString().replaceAll(':', '-')}.json`);
writeFileSync(
  file,
  JSON.stringify(
    {
      at: new Date().toISOString(),
      commit: commitOf(),
      node: process.version,
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      results,
    },
    null,
    2,
  ),
);
process.stdout.write(`\n${file}\n`);
process.exit(0);
