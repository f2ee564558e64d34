import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { clientOf } from '../../shared/rpc/contract.ts';
import { VISION } from '../../shared/rpc/vision.ts';
import type { Batch } from '../../shared/schemas/vision.ts';
import { yolov8n } from '../models/made-model.ts';
import { ageOf, noBrowser, openBrowser, readClocks } from '../support/browser.ts';
import { freePort } from '../support/temp.ts';
import { startVideoNode, TEST_CAMERA } from '../support/video-node.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';
import { message, script, sendAndCount } from './routing.ts';
import { load, openPage, share } from './video.ts';

const RATE_HZ = 5;
const PICTURES = 150;
const ROUNDS = 4;
const SHOWN = 180;
const MAVLINK_RATE = 1000;
/** After the process goes on or stands still. */
const SETTLE_MS = 1000;

interface Pair {
  readonly with: number[];
  readonly without: number[];
}

/**
 * A network of YOLOv8n's size on 320x320, five pictures a second, on the test camera at 1280x720. What it does to the others is
 * measured in turns, with the process running and held still, so that the machine's own ups and downs are in both.
 */
export async function benchVision(): Promise<readonly Result[]> {
  const why = noBrowser();
  if (why !== null) throw new Error(why);
  const { id, model, meta } = yolov8n(320);
  const [from, to] = [await freePort(), await freePort()];
  const mavlink = `mavlink:\n  source: udp:127.0.0.1:${from}\n  endpoints: ["udp:127.0.0.1:${to}"]\n`;
  const node = await startVideoNode({
    config: `${TEST_CAMERA}${mavlink}vision:\n  detector: ${id}\n  rate_hz: ${RATE_HZ}\n`,
    prepare: async ({ models }) => {
      await mkdir(models, { recursive: true });
      await writeFile(join(models, `${id}.onnx`), model);
      await writeFile(join(models, `${id}.json`), meta);
    },
  });
  let batches: Batch[] = [];
  const vision = clientOf(VISION, {
    path: node.paths.visionSocket,
    listeners: { batch: (batch) => batches.push(batch) },
  });
  vision.start();
  const station = script('frame-sink.ts', String(to));
  await message(station);
  const browser = await openBrowser();
  try {
    const pid = node.pid('svc-vision');
    while (batches.length < RATE_HZ) await wait(100);
    const video = await load(node.pid('svc-video'));

    batches = [];
    const [cpu, began] = [cpuMicros(pid), performance.now()];
    while (batches.length < PICTURES) await wait(100);
    const seconds = (performance.now() - began) / 1000;
    const used = (cpuMicros(pid) - cpu) / seconds / 1e4;
    const latencies = batches.flatMap(({ latency_ms }) => latency_ms ?? []);
    const status = await vision.calls.status({});
    const memory = pssMib(pid);

    const inTurns = async (measure: () => Promise<number>): Promise<Pair> => {
      const pair: Pair = { with: [], without: [] };
      await measure();
      for (let round = 0; round < ROUNDS; round++) {
        for (const turn of ['without', 'with'] as const) {
          process.kill(pid, turn === 'with' ? 'SIGCONT' : 'SIGSTOP');
          await wait(SETTLE_MS);
          pair[turn].push(await measure());
        }
      }
      return pair;
    };
    const mavlinkP99 = await inTurns(
      async () => (await sendAndCount(from, MAVLINK_RATE, station)).p99 / 1000,
    );
    const page = await openPage(browser, node.url);
    await page.evaluate(async () => window.add(1));
    const ages = await inTurns(async () => share((await readClocks(page, SHOWN)).map(ageOf), 0.5));

    const compared = (name: string, pair: Pair): readonly Result[] => {
      const [withIt, without] = [median(pair.with), median(pair.without)];
      const note = `${withIt.toFixed(2)} ms with the detector, ${without.toFixed(2)} ms while it stands still; medians of ${ROUNDS}`;
      return [{ name: `${name}, with and without`, value: withIt / without, unit: 'times', note }];
    };
    const note = `${status.threads ?? 0} thread(s), inference ${status.inference_ms ?? 0} ms, at most ${status.rate_hz ?? 0} a second`;
    return [
      { name: 'picture to detections, median', value: share(latencies, 0.5), unit: 'ms', note },
      { name: 'picture to detections, p95', value: share(latencies, 0.95), unit: 'ms' },
      {
        name: 'pictures looked at',
        value: PICTURES / seconds,
        unit: '1/s',
        goal: RATE_HZ * 0.95,
        higher: true,
      },
      { name: 'CPU of svc-vision', value: used, unit: '% core', goal: 50 },
      { name: 'CPU of svc-video beside it', value: video, unit: '% core' },
      { name: 'PSS of svc-vision', value: memory, unit: 'MiB' },
      ...compared(`MAVLink p99 at ${MAVLINK_RATE} frames/s`, mavlinkP99),
      ...compared('capture to decoded picture in Chromium, median', ages),
    ];
  } finally {
    vision.stop();
    station.disconnect();
    await browser.close();
    await node.stop();
  }
}
