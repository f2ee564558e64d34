import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { KEY } from './edge.ts';
import { SAFE_PATH } from './node.ts';
import { programOf } from './program.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

export const SECRET = 'the-secret-of-this-boot';

/** The front's process alone, paired, with the test in the supervisor's place; what is behind it, the test brings. */
export interface LoneFront {
  readonly paths: Paths;
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<number | null>;
}

export async function startFront(config = ''): Promise<LoneFront> {
  const front = await launchFront(config);
  await once(front.process, 'message');
  return front;
}

/** As `startFront`, without waiting until it is ready. */
export async function launchFront(config = ''): Promise<LoneFront> {
  const base = await tempDir();
  const env = {
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
  };
  const paths = pathsFrom(env);
  await mkdir(paths.etc, { recursive: true });
  await mkdir(paths.run, { recursive: true });
  const port = await freePort();
  await writeFile(paths.config, `api:\n  port: ${port}\n${config}`);
  await writeFile(
    paths.pairing,
    JSON.stringify({ paired: true, api_key: KEY, owner_id: 't', paired_at: 1 }),
    { mode: 0o600 },
  );
  const child = fork(programOf('front/control/main'), {
    env: { ...process.env, PATH: SAFE_PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.send({ type: 'init', secret: SECRET, nodeStartedAt: 0 });
  child.stderr?.resume();
  return {
    paths,
    url: `http://127.0.0.1:${port}`,
    port,
    process: child,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      }
      await removeDir(base);
      return child.exitCode;
    },
  };
}
