/**
 * `npm run soak -- --hours N | --minutes N [--steady] [--seed S] [--json FILE]`: a node under load and faults. With `--steady` no
 * process is killed and the load is heavier: after the first hour no process may grow or shrink by more than 1 MiB an hour.
 * Writes the report to FILE (and for people to the same name with .md) and to stdout. Exit code 0: every invariant held; 1: one was broken, or the run was cut
 * short; 2: wrong usage.
 */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import { markdownOf } from './report.ts';
import { soak } from './soak.ts';

const DISK = '512m';
const HOUR_S = 3600;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      hours: { type: 'string' },
      minutes: { type: 'string' },
      steady: { type: 'boolean', default: false },
      seed: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const seconds = Number(values.hours ?? 0) * HOUR_S + Number(values.minutes ?? 0) * 60;
  const seed = Number(values.seed ?? Math.floor(Date.now() / 1000) % 1_000_000);
  if (!(seconds > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write(
      'usage: npm run soak -- --hours N | --minutes N [--steady] [--seed S] [--json FILE]\n',
    );
    return 2;
  }
  const ownDisk = process.env['SVC_SOAK_MOUNTS'] === '1';
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      // The second time at once: the node ends with this process.
      if (interrupt.signal.aborted) process.exit(1);
      interrupt.abort();
    });
  try {
    if (ownDisk) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=700`, 'soak', folder]);
      // What a killed process leaves behind there goes too: libfaketime's shared memory, the names of network namespaces.
      for (const place of ['/dev/shm', '/run/netns']) {
        await mkdir(place, { recursive: true });
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'soak', place]);
      }
    }
    // A steady run has an extension, and libfaketime ends whatever cannot write /dev/shm: a sandbox.
    const faketime =
      ownDisk && !values.steady ? (globSync('/usr/lib/*/faketime/libfaketime.so.1')[0] ?? null) : null;
    await writeFile(join(folder, 'clock'), '+0\n');
    const report = await soak({
      seconds,
      steady: values.steady,
      seed,
      folder,
      ownDisk,
      faketime,
      signal: interrupt.signal,
      say: (line) => process.stderr.write(`${line}\n`),
    });
    const text = markdownOf(report);
    if (values.json !== undefined) {
      await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
      await writeFile(`${values.json.replace(/\.json$/, '')}.md`, text);
    }
    process.stdout.write(text);
    return report.ok ? 0 : 1;
  } finally {
    if (ownDisk) execFileSync('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  }
}

// In a mount name space of its own: what is mounted here is gone with this process.
if (process.getuid?.() === 0 && process.env['SVC_SOAK_MOUNTS'] === undefined) {
  const [unshare] = globSync(['/usr/bin/unshare', '/bin/unshare']);
  const words = [
    'unshare',
    '--mount',
    '--propagation',
    'private',
    process.execPath,
    ...process.argv.slice(1),
  ];
  if (unshare !== undefined) process.execve?.(unshare, words, { ...process.env, SVC_SOAK_MOUNTS: '1' });
}
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`the soak cannot go on: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
process.exit();
