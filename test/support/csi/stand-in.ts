/**
 * Stands in for `rpicam-vid`, as strict as the real one: unknown options are errors, `--list-cameras` prints what libcamera's
 * programs print, pictures are YUV 4:2:0 in full range at the rate that was asked for. Beside it lies `plan.json`.
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TestPicture } from '../../../residual/video/sources/test-picture.ts';
import type { CsiPlan } from './stand-in-camera.ts';

const [folder = '', ...args] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as CsiPlan;
appendFileSync(join(folder, 'runs'), `${process.pid} ${args.join(' ')}\n`);

const LIST = `Available cameras
-----------------
0 : imx219 [3280x2464 10-bit RGGB] (/base/soc/i2c0mux/i2c@1/imx219@10)
    Modes: 'SRGGB10_CSI2P' : 640x480 [206.65 fps - (1000, 752)/1280x960 crop]
                             1640x1232 [41.85 fps - (0, 0)/3280x2464 crop]
                             3280x2464 [21.19 fps - (0, 0)/3280x2464 crop]
           'SRGGB8' : 640x480 [206.65 fps - (1000, 752)/1280x960 crop]
                      3280x2464 [21.19 fps - (0, 0)/3280x2464 crop]

`;

function fail(words: string): never {
  writeSync(2, `ERROR: *** ${words} ***\n`);
  process.exit(255);
}

const VALUES = ['camera', 'codec', 'width', 'height', 'framerate', 'timeout', 'output'] as const;
const FLAGS = ['list-cameras', 'nopreview', 'flush'] as const;
const given = new Map<string, string>();
for (let at = 0; at < args.length; at++) {
  const name = args[at]?.replace(/^--/, '') ?? '';
  if ((FLAGS as readonly string[]).includes(name)) given.set(name, '');
  else if (!(VALUES as readonly string[]).includes(name) || !args[at]?.startsWith('--'))
    fail(`unrecognised option '${args[at]}'`);
  else if (args[++at] === undefined) fail(`the required argument for option '--${name}' is missing`);
  else given.set(name, args[at] ?? '');
}
const number = (name: (typeof VALUES)[number]): number => {
  const text = given.get(name) ?? '';
  if (!/^\d+(?:\.\d+)?$/.test(text)) fail(`the argument ('${text}') for option '--${name}' is invalid`);
  return Number(text);
};

if (given.has('list-cameras')) {
  writeSync(1, plan.cameras === 0 ? 'No cameras available!\n' : LIST);
  process.exit(0);
}
writeSync(2, '[0:12:00.1] [1] \u{1b}[32m INFO \u{1b}[37mCamera camera_manager.cpp:325 libcamera v0.3.2\n');
if (plan.cameras === 0) fail('no cameras available');
if (number('camera') >= plan.cameras) fail('selected camera is not available');
if (given.get('codec') !== 'yuv420') fail(`unrecognised codec ${given.get('codec')}`);
if (given.get('output') !== '-') fail('failed to open output file');
// Without these it opens a window, and ends after five seconds.
if (!given.has('nopreview')) fail('failed to open preview');
if (number('timeout') !== 0) fail('reached timeout');
const [width, height, fps] = [number('width'), number('height'), number('framerate')];
if (width % 64 !== 0) fail('this stand-in knows no padding');
if (plan.deaf) process.on('SIGTERM', () => undefined);

const picture = new TestPicture(width, height);
const pixels = Buffer.alloc((width * height * 3) / 2);
const [y, u, v] = [
  pixels.subarray(0, width * height),
  pixels.subarray(width * height, (width * height * 5) / 4),
  pixels.subarray((width * height * 5) / 4),
];
const began = performance.now();
for (let count = 0; count < (plan.pictures ?? Infinity); count++) {
  picture.draw({ y, u, v, strides: [width, width / 2, width / 2] }, Date.now(), count);
  const flushed = process.stdout.write(pixels);
  if (!flushed) await new Promise((resolve) => process.stdout.once('drain', resolve));
  await delay(Math.max(0, began + ((count + 1) * 1000) / fps - performance.now()));
}
if (plan.after === 'stall') await delay(1e9); // it hangs
// A part of a picture, as a crash leaves it.
await new Promise((resolve) => process.stdout.write(pixels.subarray(0, 1000), resolve));
fail('camera device disconnected');
