import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf } from '../errors.ts';

/** A serial port that a flight controller may be on. */
export interface SerialPortEntry {
  /** The device itself, for example `/dev/ttyACM0`. */
  readonly path: string;
  /** The name under `/dev/serial/by-id`, which stays the same over a re-enumeration; null if udev made none. */
  readonly byId: string | null;
}

/**
 * USB serial, USB CDC, and the UARTs of boards: PL011, 8250, Tegra (Jetson), SC16IS7xx, i.MX, Qualcomm, Samsung, Xilinx, Amlogic, STM32,
 * OMAP, MediaTek. Not ttyGS: there this machine is the device.
 */
const TTY = /^tty(?:ACM|USB|AMA|S|THS|SC|mxc|LP|HS|HSL|MSM|SAC|PS|UL|AML|STM|O|MT|XRUSB|CH343USB)\d+$/;

/**
 * Lists the ports without opening one: `/dev/serial/by-id/*` and `/dev/tty…` of the kinds above, each device once, sorted by path.
 * An 8250 port without a chip (a PC has 32 of them) and the kernel's console are left out.
 * @param dev `/dev`
 * @param sys `/sys`
 */
export async function listSerialPorts(dev: string, sys: string): Promise<readonly SerialPortEntry[]> {
  const byId = join(dev, 'serial/by-id');
  const names = new Map<string, string>();
  for (const name of await namesIn(byId)) {
    const target = await targetOf(join(byId, name));
    if (target !== null) names.set(target, join(byId, name));
  }
  const consoles = new Set((await textOf(join(sys, 'class/tty/console/active'))).split(/\s+/));
  const paths = new Set<string>(names.keys());
  for (const name of await namesIn(dev)) {
    if (!TTY.test(name) || consoles.has(name)) continue;
    if ((await textOf(join(sys, 'class/tty', name, 'type'))).trim() === '0') continue;
    paths.add(join(dev, name));
  }
  return [...paths]
    .filter((path) => !consoles.has(basename(path)))
    .toSorted()
    .map((path) => ({ path, byId: names.get(path) ?? null }));
}

/** Empty if the folder does not exist: there was no USB serial device yet. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** The device that a link leads to; null if it has been unplugged. */
async function targetOf(link: string): Promise<string | null> {
  try {
    return await realpath(link);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return ''; // some ports lack some facts
  }
}

function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
