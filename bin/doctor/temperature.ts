import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, ok, skip, warn } from './check.ts';

const ZONES = '/sys/class/thermal';
const HOT_C = 80;

/** @param celsius the highest known temperature; null if there is no sensor */
export function temperatureCheck(celsius: number | null): Check {
  const name = 'temperature';
  if (celsius === null) return skip(name, 'This machine has no sensor.');
  return celsius >= HOT_C
    ? warn(name, `${celsius.toFixed(0)} C.`, 'The CPU will soon be slowed down: improve the cooling.')
    : ok(name, `${celsius.toFixed(0)} C.`);
}

/** The hottest thermal zone of this machine, degrees Celsius. */
export async function hottestZone(zones = ZONES): Promise<number | null> {
  const names = await readdir(zones).catch(() => []); // no such folder: no sensor
  const read = names
    .filter((name) => name.startsWith('thermal_zone'))
    .map(async (name) => readFile(join(zones, name, 'temp'), 'utf8').catch(() => '')); // a disabled zone
  const values = (await Promise.all(read))
    .filter((text) => /^-?\d+\s*$/.test(text))
    .map((text) => Number(text) / 1000);
  return values.length === 0 ? null : Math.max(...values);
}
