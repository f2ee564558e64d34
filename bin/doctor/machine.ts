import { access, constants, readdir, readFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { memberOf } from '../../shared/member.ts';
import { type Check, fail, guarded, ok, skip, warn } from './check.ts';
import { hottestZone, temperatureCheck } from './temperature.ts';

/** Checks of the machine, whether the node runs or not. */

/** Before this project began; a board without a clock boots in 1970. */
const EARLIEST_MS = Date.UTC(2024, 0, 1);
const WANTED_MAJOR = 24;

export async function checkMachine(): Promise<readonly Check[]> {
  return Promise.all([
    guarded('clock', clock),
    guarded('machine', () => fits(process.arch, glibc())),
    guarded('runtime', runtime),
    guarded('memory', memory),
    guarded('memory limits', memoryLimits),
    guarded('serial ports', serialPorts),
    guarded('temperature', async () => temperatureCheck(await hottestZone())),
  ]);
}

/** Null with another C library. */
function glibc(): string | null {
  Object.assign(process.report, { excludeNetwork: true }); // it would look up names
  const version = memberOf(memberOf(process.report.getReport(), 'header'), 'glibcVersionRuntime');
  return typeof version === 'string' ? version : null;
}

/** Whether the binaries inside can run here: video, serial ports and the detector have none for other machines. */
export function fits(arch: string, libc: string | null): Check {
  if (arch !== 'x64' && arch !== 'arm64')
    return fail(
      'machine',
      `Its programs are for ${arch}; there are packages for amd64 and arm64 alone.`,
      'Use the 64-bit edition of the system, for example the 64-bit Raspberry Pi OS.',
    );
  return libc === null
    ? fail('machine', `${arch}, with another C library than glibc.`, 'Use Debian, Raspberry Pi OS or Ubuntu.')
    : ok('machine', `${arch}, glibc ${libc}.`);
}

function clock(): Check {
  const now = new Date();
  return now.getTime() < EARLIEST_MS
    ? fail(
        'clock',
        `It says ${now.toISOString()}.`,
        'Give it the time: network, GPS, or `sudo date -s`. Tokens and logs depend on it.',
      )
    : ok('clock', `It says ${now.toISOString()}.`);
}

function runtime(): Check {
  const major = Number(process.versions.node.split('.')[0]);
  return major >= WANTED_MAJOR
    ? ok('runtime', `Node ${process.versions.node}.`)
    : fail(
        'runtime',
        `Node ${process.versions.node} is too old.`,
        'Run `npm ci`, which brings the right one.',
      );
}

function memory(): Check {
  const free = freemem() / totalmem();
  const text = `${(free * 100).toFixed(0)} % of ${Math.round(totalmem() / 2 ** 20)} MiB are free.`;
  return free < 0.05
    ? warn('memory', text, 'See which process uses it: `svc top`, then s.')
    : ok('memory', text);
}

/** Raspberry Pi OS switches the control group of memory off, and then no limit of a unit counts. */
async function memoryLimits(): Promise<Check> {
  const controllers = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch(() => null);
  if (controllers === null) return skip('memory limits', 'This system has no unified control groups.');
  return controllers.split(/\s+/).includes('memory')
    ? ok('memory limits', 'The kernel keeps them.')
    : warn(
        'memory limits',
        'The kernel keeps none: `MemoryMax` of svc and of extensions does not count.',
        'On a Raspberry Pi: add `cgroup_enable=memory` to the line in /boot/firmware/cmdline.txt, and reboot.',
      );
}

async function serialPorts(): Promise<Check> {
  const names = (await readdir('/dev')).filter((name) => /^tty(?:ACM|USB|AMA)\d+$/.test(name));
  if (names.length === 0)
    return skip('serial ports', 'There is none; a flight controller on USB would be /dev/ttyACM0.');
  const closed: string[] = [];
  for (const name of names) {
    await access(`/dev/${name}`, constants.R_OK | constants.W_OK).catch(() => closed.push(name)); // that is the finding
  }
  return closed.length === 0
    ? ok('serial ports', `${names.join(', ')}: you may use them.`)
    : warn(
        'serial ports',
        `${closed.join(', ')}: you may not use them.`,
        'The node’s user must be in group dialout: `sudo usermod -aG dialout svc`.',
      );
}
