import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import semver from 'semver';
import { chunksOf } from '../../../shared/async/chunks.ts';
import { codeOf, messageOf } from '../../../shared/errors.ts';
import { fillAtomic, sweepTemporary, writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';
import { type Bundle, MAX_BUNDLE_BYTES, openBundle } from '../../../shared/update/bundle.ts';
import type { InstallPlaces } from '../../../shared/update/install-places.ts';
import { type Arch, MANIFEST_SCHEMA, type Manifest } from '../../../shared/update/manifest.ts';
import { UpdateRefusal } from '../../../shared/update/refusal.ts';
import { checkJob, type Job, ORDINARY } from './job.ts';
import { readJson, readText } from './json-file.ts';
import type { NodeHealth, NodeProcess } from './node-health.ts';
import {
  notStayed,
  type Progress,
  readProgress,
  readReturned,
  readTrial,
  runningVersion,
  type Trial,
  writeProgress,
} from './progress.ts';
import { addUpdateKeys, checkNewKeys, readUpdateKeys } from './update-keys.ts';

const checkManifest = validatorOf(MANIFEST_SCHEMA);
const MIB = 1024 * 1024;
/** Left for the others that write to these disks. */
const RESERVE_BYTES = 64 * MIB;
/** The manifest of an installed version beside its files: what is left to do when it has proved itself. */
const KEPT_MANIFEST = 'update-manifest.json';
const FLOOR_FILE = 'deploy/security-floor';
const SWITCH_FILE = 'deploy/svc-switch';
const HIDDEN = /^\.(?:new|old)-/;
const SWITCH_MS = 120_000;
const RESTART_MS = 120_000;
const SYNC_MS = 300_000;
/** So many processes that fail end a trial. */
const FAILURES = 3;
/** A trial that does not come to its end in so many times its length has failed. */
const LONGEST = 6;
/** Between two times that a trial is written down, so that it goes on after another start of the machine. */
const MARK_MS = 30_000;
/** Between two times that progress is written. */
const TELL_MS = 500;

export interface UpdaterDeps {
  readonly places: InstallPlaces;
  /** Where a bundle lies that came over the API. */
  readonly upload: string;
  readonly arch: Arch;
  readonly health: NodeHealth;
  /** How long a new version has to be ready, and how long it has to stay so. */
  readonly healthMs: number;
  readonly holdMs: number;
  /** How long no process may have been started again. */
  readonly trialMs: number;
  /** Between two looks at it. */
  readonly pollMs: number;
  readonly run: (program: string, args: readonly string[], timeoutMs: number) => Promise<string>;
  readonly monotonic: () => number;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Installs a bundle. Each step leaves a version that runs and files from which the next run goes on, so it may be killed
 * anywhere (docs/update.md).
 */
export class Updater {
  readonly #deps: UpdaterDeps;
  #version: string | null = null;
  #told = 0;

  constructor(deps: UpdaterDeps) {
    this.#deps = deps;
  }

  /** Goes on with what is there: a version on trial, or a bundle. Its outcome is in the progress. */
  async run(): Promise<void> {
    const { places, log, run } = this.#deps;
    try {
      // One that was started before this updater, and has outlived the last.
      await run('flock', [join(places.keep, '.switch.lock'), 'true'], SWITCH_MS);
      let trial = await readTrial(places);
      if (trial === null) {
        const installed = await this.#install();
        if (installed === null) return;
        trial = await readTrial(places);
        if (trial === null) throw new UpdateRefusal(await this.#gone(installed));
      }
      this.#version = trial.to;
      await this.#prove(trial);
    } catch (error) {
      const sentence = sentenceOf(error);
      log.warn(`update: ${sentence}`);
      const returned = this.#version !== null && (await readReturned(places)) === this.#version;
      await this.#tell(returned ? 'returned' : 'failed', null, sentence);
    } finally {
      await rm(places.bundle, { force: true });
      await rm(places.job, { force: true });
    }
  }

  /** @returns the version that is on trial now; null if there was nothing to do */
  async #install(): Promise<string | null> {
    const { places, log } = this.#deps;
    const running = await runningVersion(places);
    if (running === null) throw new UpdateRefusal('No version is installed here.');
    const said = await readProgress(places);
    await this.#sweep();
    if (said?.step === 'checking' && said.version !== null) {
      // Killed after the trial was over, before that was said.
      if (said.version === running) await this.#done(running);
      else await this.#tell('returned', null, notStayed(running, said.version));
      return null;
    }
    if (!(await this.#takeBundle())) return null;
    await rm(places.returned, { force: true });
    await this.#tell('verifying', null);
    const job = (await readJson<Job>(places.job, checkJob)) ?? ORDINARY;
    const bundle = await this.#open();
    try {
      const { manifest } = bundle;
      this.#version = manifest.version;
      await this.#judge(manifest, running, job);
      await this.#unpack(bundle, running);
    } finally {
      await bundle.close();
    }
    await this.#tell('switching', null);
    await this.#refuseArmed(job);
    await this.#freshSwitch();
    const { version } = bundle.manifest;
    log.info(`update: ${running} -> ${version}`);
    await this.#switch('to', version);
    return version;
  }

  /** A key that does not count is named where no other has signed. */
  async #open(): Promise<Bundle> {
    const { places, log } = this.#deps;
    const { keys, problems } = await readUpdateKeys(places.keys);
    for (const problem of problems) log.warn(`update: ${problem}`);
    return openBundle(places.bundle, keys).catch((error: unknown) => {
      if (!(error instanceof UpdateRefusal) || problems.length === 0) throw error;
      throw new UpdateRefusal([error.message, ...problems].join(' '), { cause: error });
    });
  }

  /** What others left that were killed. */
  async #sweep(): Promise<void> {
    const { places, now, log } = this.#deps;
    await sweepTemporary([places.keep], now(), (sentence) => log.warn(sentence));
    for (const name of await readdir(places.versions))
      if (HIDDEN.test(name)) await rm(join(places.versions, name), { recursive: true, force: true });
  }

  /** Copies what came over the API to where only root can change it. @returns whether there is a bundle */
  async #takeBundle(): Promise<boolean> {
    const { places, upload } = this.#deps;
    if (await isThere(places.bundle)) return true;
    const handle = await openUpload(upload);
    if (handle === null) return false;
    try {
      const { size } = await handle.stat();
      if (size === 0) return false; // taken before
      if (size > MAX_BUNDLE_BYTES) throw new UpdateRefusal('The bundle has more than 200 MiB.');
      await this.#tell('verifying', 0);
      await this.#requireRoom(places.keep, size);
      await fillAtomic(places.bundle, async (copy) => {
        let done = 0;
        const source = handle.createReadStream({ start: 0, end: size - 1, autoClose: false });
        for await (const chunk of chunksOf(source)) {
          await copy.writeFile(chunk);
          done += chunk.length;
          await this.#tellNowAndThen('verifying', done, size);
        }
      });
      await handle.truncate(0);
      return true;
    } finally {
      await handle.close();
    }
  }

  /** @throws UpdateRefusal */
  async #judge(manifest: Manifest, running: string, { by_root: byRoot }: Job): Promise<void> {
    const { places, arch } = this.#deps;
    const { version, security_floor: floor, keys = {} } = manifest;
    checkNewKeys(keys);
    if (manifest.arch !== arch)
      throw new UpdateRefusal(`The bundle is for ${manifest.arch}, and this machine is ${arch}.`);
    if (semver.valid(version) !== version) throw new UpdateRefusal(`${version} is no version.`);
    const order = semver.compare(version, running);
    if (order === 0) throw new UpdateRefusal(`Version ${version} runs already.`);
    const highest = (await readText(places.floor)) ?? '0';
    if (!/^\d+$/.test(highest))
      throw new UpdateRefusal(
        `${places.floor} is damaged: it has no number. Start svc again (systemctl restart svc), which writes it anew.`,
      );
    if (floor < Number(highest))
      throw new UpdateRefusal(
        `Version ${version} has security floor ${floor}, and none below ${highest} may run here any more.`,
      );
    if (order < 0 && !byRoot)
      throw new UpdateRefusal(
        `Version ${version} is older than ${running}. Only root on the node installs an older one: svc update FILE --allow-downgrade.`,
      );
  }

  /** Beside the version that runs, hidden until it is complete and on the disk. */
  async #unpack(bundle: Bundle, running: string): Promise<void> {
    const { places, run } = this.#deps;
    const { version, security_floor: floor } = bundle.manifest;
    await this.#tell('unpacking', 0);
    await this.#requireRoom(places.versions, bundle.unpackedBytes);
    const hidden = join(places.versions, `.new-${version}`);
    const folder = join(places.versions, version);
    try {
      await bundle.unpack(hidden, (done) => this.#tellNowAndThen('unpacking', done, bundle.unpackedBytes));
      const own = await readText(join(hidden, FLOOR_FILE));
      if (own !== String(floor))
        throw new UpdateRefusal(`The bundle is refused: its manifest and ${FLOOR_FILE} do not agree.`);
      await writeAtomic(join(hidden, KEPT_MANIFEST), bundle.manifestBytes, 0o644);
      await run('sync', ['-f', hidden], SYNC_MS); // all of its files at once
      if ((await runningVersion(places)) !== running)
        throw new UpdateRefusal('Another version was switched to meanwhile. Nothing was changed.');
      // One that was installed before, and did not stay or was left.
      if (await isThere(folder)) await rename(folder, join(places.versions, `.old-${version}`));
      await rename(hidden, folder);
      await syncFolder(places.versions);
    } catch (error) {
      await rm(hidden, { recursive: true, force: true });
      throw error;
    }
    await this.#sweep();
  }

  /** Once more, because it took minutes until now. @throws UpdateRefusal */
  async #refuseArmed({ force, by_root: byRoot }: Job): Promise<void> {
    if (force) return;
    const armed = await this.#deps.health.armed();
    if (armed === true)
      throw new UpdateRefusal(
        'The vehicle is armed. Nothing was changed: disarm it, and send the bundle again.',
      );
    if (armed !== false && !(byRoot && armed === null))
      throw new UpdateRefusal(
        'Nobody knows whether the vehicle is armed. Nothing was changed: repeat it with force if you are sure.',
      );
    // Of every vehicle on the line, and also where nobody answers.
    const why = await this.#whyNotCut();
    if (why !== null) throw new UpdateRefusal(`Nothing was changed: ${why}`);
  }

  /** The armed guard as svc-link has written it last. @returns null, or why the link may not be cut now */
  async #whyNotCut(): Promise<string | null> {
    return this.#switch('may-cut').then(
      () => null,
      (error: unknown) => sentenceOf(error).replace(/^systemd-run: /, ''),
    );
  }

  /** Runs the version that is on trial, and keeps it or goes back. */
  async #prove({ from, to, state }: Trial): Promise<void> {
    const { places, run, log } = this.#deps;
    await this.#tell('checking', null);
    let wrong: string | null = null;
    try {
      if (state === 'ready') {
        const { force } = (await readJson<Job>(places.job, checkJob)) ?? ORDINARY;
        const why = force ? null : await this.#whyNotCut();
        if (why !== null) {
          await this.#switch('back');
          throw new UpdateRefusal(`Nothing was changed: ${why}`);
        }
        await run('systemctl', ['restart', 'svc.service'], RESTART_MS);
      }
      wrong = (await this.#whyNotHealthy(to)) ?? (await this.#whyNotQuiet(to));
    } catch (error) {
      wrong = sentenceOf(error);
    }
    if (wrong === null) {
      wrong = await this.#keep(to).catch(sentenceOf);
      if (wrong === null) return;
    }
    log.warn(`update: ${to}: ${wrong}`);
    if ((await readTrial(places)) !== null) await this.#switch('overdue');
    await this.#tell('returned', null, `${notStayed(from, to)} ${wrong}`);
  }

  /** @returns null, or why it does not stay */
  async #keep(version: string): Promise<string | null> {
    const { places } = this.#deps;
    const manifest = await readJson<Manifest>(join(places.versions, version, KEPT_MANIFEST), checkManifest);
    await addUpdateKeys(places.keys, manifest?.keys ?? {});
    await this.#switch('confirm');
    if ((await readReturned(places)) !== null || (await runningVersion(places)) !== version)
      return 'It was not confirmed in time.';
    await this.#done(version);
    return null;
  }

  /** @returns null once it has been well for long enough */
  async #whyNotHealthy(version: string): Promise<string | null> {
    const { places, health, healthMs, holdMs, pollMs, monotonic } = this.#deps;
    const deadline = monotonic() + healthMs;
    let since = 0;
    let seen = '';
    let wrong = 'it was restarted again and again';
    for (;;) {
      // Started once more, it has gone back already.
      if ((await readTrial(places)) === null) return 'It had to be started again.';
      try {
        const processes = await health.check(version);
        if (processes !== seen) since = monotonic();
        seen = processes;
        if (monotonic() - since >= holdMs) return null;
      } catch (error) {
        seen = '';
        wrong = messageOf(error);
      }
      if (monotonic() > deadline) return `After ${healthMs / 1000} s, ${wrong}.`;
      await delay(pollMs);
    }
  }

  /** The trial itself. @returns null once no process was started again for long enough */
  async #whyNotQuiet(version: string): Promise<string | null> {
    const { places, health, healthMs, trialMs, pollMs, monotonic } = this.#deps;
    const trial = await readTrial(places);
    let quietMs = (trial?.quietS ?? 0) * 1000;
    let failures = trial?.restarts ?? 0;
    const begun = monotonic();
    let [looked, marked, well] = [begun, -Infinity, begun];
    let seen: readonly NodeProcess[] = [];
    for (;;) {
      if ((await readTrial(places)) === null) return 'It had to be started again.';
      const now = monotonic();
      try {
        const processes = await health.processes(version);
        const again = startedAgain(seen, processes);
        if (again.some(({ failed }) => failed)) failures++;
        quietMs = again.length > 0 || well < looked ? 0 : quietMs + now - looked;
        if (failures >= FAILURES)
          return `${again.map(({ name }) => name).join(', ')} failed, the ${FAILURES}rd time.`;
        if (again.length > 0) marked = -Infinity;
        [seen, well] = [processes, now];
      } catch (error) {
        if (now - well > healthMs) return `For ${healthMs / 1000} s, ${messageOf(error)}.`;
      }
      looked = now;
      if (quietMs >= trialMs) return null;
      if (now - begun > LONGEST * trialMs)
        return `Processes were started again and again for ${Math.round((now - begun) / 60_000)} min.`;
      if (now - marked >= MARK_MS) {
        marked = now;
        await this.#switch('well', String(Math.floor(quietMs / 1000)), String(failures));
      }
      await this.#tellNowAndThen('checking', quietMs, trialMs);
      await delay(pollMs);
    }
  }

  /** The switch of the version that runs, which has proved itself: one that came with a package may be older than this updater. */
  async #freshSwitch(): Promise<void> {
    const { places } = this.#deps;
    const own = await readFile(join(places.current, SWITCH_FILE), 'utf8').catch(absent);
    if (own === null || own === (await readFile(places.svcSwitch, 'utf8').catch(absent))) return;
    await writeAtomic(places.svcSwitch, own, 0o755);
  }

  async #done(version: string): Promise<void> {
    this.#deps.log.info(`update: version ${version} stays`);
    await this.#tell('done', null);
  }

  /** Outside of this process's sandbox, since it writes units, users and files of the node. */
  async #switch(...args: readonly string[]): Promise<void> {
    const { run, places } = this.#deps;
    await run(
      'systemd-run',
      ['--quiet', '--collect', '--wait', '--pipe', places.svcSwitch, ...args],
      SWITCH_MS,
    );
  }

  async #gone(version: string): Promise<string> {
    const running = await runningVersion(this.#deps.places);
    return running === version ? `Version ${version} runs already.` : notStayed(running, version);
  }

  async #requireRoom(folder: string, bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    const missing = bytes + RESERVE_BYTES - bavail * bsize;
    if (missing > 0)
      throw new UpdateRefusal(
        `The disk is full: ${Math.ceil(missing / MIB)} MiB are missing in ${folder}. Delete recordings or logs.`,
      );
  }

  async #tell(step: Progress['step'], percent: number | null, error: string | null = null): Promise<void> {
    this.#told = this.#deps.monotonic();
    await writeProgress(this.#deps.places, { step, percent, error, version: this.#version }).catch(
      (failure: unknown) =>
        this.#deps.log.warn(`update: the progress cannot be written: ${messageOf(failure)}`),
    );
  }

  async #tellNowAndThen(step: Progress['step'], done: number, total: number): Promise<void> {
    if (this.#deps.monotonic() - this.#told < TELL_MS) return;
    await this.#tell(step, Math.min(100, Math.floor((100 * done) / Math.max(1, total))));
  }
}

/** Those that were started since: one that waits for its next start is not there. */
function startedAgain(
  before: readonly NodeProcess[],
  processes: readonly NodeProcess[],
): readonly NodeProcess[] {
  return processes.filter(({ name, pid, restarts }) => {
    const known = before.find((each) => each.name === name);
    return known !== undefined && (known.pid !== pid || known.restarts !== restarts);
  });
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function sentenceOf(error: unknown): string {
  if (codeOf(error) === 'ENOSPC') return 'The disk is full. Delete recordings or logs.';
  return messageOf(error);
}

/** The node's user made it, and could put anything there: only a plain file of its own is opened. Null if there is none. */
async function openUpload(file: string): Promise<FileHandle | null> {
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    const { uid } = await stat(dirname(dirname(file)));
    if (!found.isFile() || found.nlink > 1 || found.uid !== uid)
      throw new UpdateRefusal(`${file} is not a plain file of the node.`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
