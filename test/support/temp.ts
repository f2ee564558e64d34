import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of the test's own; short, because socket paths are. */
export async function tempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'svc-'));
}

export async function removeDir(path: string): Promise<void> {
  // A process that ends may still write there.
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Below the kernel's own: those are taken by any connection at any moment. */
const PORTS = { first: 15_000, last: 32_000 } as const;

/** A TCP port that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = randomInt(PORTS.first, PORTS.last);
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
  return free ? port : freePort();
}
