import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Job } from '../../bin/helper/update/job.ts';
import type { NodeHealth, NodeProcess } from '../../bin/helper/update/node-health.ts';
import { type Progress, readProgress, readTrial } from '../../bin/helper/update/progress.ts';
import { Updater, type UpdaterDeps } from '../../bin/helper/update/updater.ts';
import { type InstallPlaces, installPlaces } from '../../shared/update/install-places.ts';
import { bundleOf, HERE, newKeys, OTHER, writeVersion } from '../support/bundles.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const RUNNING = '1.0.0';
const NEXT = '1.1.0';
const NO_STEP = ['flock'];
const WHOLE = ['flock', 'sync', 'switch to', 'restart', 'switch confirm'];

type BundleOptions = Parameters<typeof bundleOf>[3];

/** The updater, with a switch and a systemd that only do what the files show. */
describe('the steps of an update', () => {
  let base: string;
  let places: InstallPlaces;
  let keys: ReturnType<typeof newKeys>;
  let steps: string[];
  /** What the updater had said of itself at each of these steps. */
  let told: string[];
  let armed: unknown;
  let monotonic: number;
  let health: (version: string) => Promise<string>;
  let processes: () => readonly NodeProcess[];
  /** What the armed guard says when it is asked, one answer a time; after the last: it may be cut. */
  let mayCut: (string | null)[];
  /** Behind which step it was asked. */
  let guarded: string[];
  /** Called before a step is done. */
  let at: (step: string) => Promise<void> | void;

  beforeEach(async () => {
    base = await tempDir();
    places = installPlaces(base);
    keys = newKeys();
    [steps, told, armed, monotonic] = [[], [], false, 1000];
    [mayCut, guarded] = [[], []];
    health = async () => 'p1';
    processes = () => [];
    at = () => undefined;
    for (const folder of [places.versions, places.keep, places.keys, join(base, 'node')])
      await mkdir(folder, { recursive: true });
    await writeVersion(join(places.versions, RUNNING), { version: RUNNING });
    await symlink(join(places.versions, RUNNING), places.current);
    await writeFile(join(places.keys, 'first.pub'), keys.publicText);
  });
  afterEach(async () => removeDir(base));

  const current = async (): Promise<string> => (await readlink(places.current)).split('/').at(-1) ?? '';
  const point = async (version: string): Promise<void> => {
    await rm(places.current);
    await symlink(join(places.versions, version), places.current);
  };
  const run: UpdaterDeps['run'] = async (program, args) => {
    const words = args.slice(args.indexOf(places.svcSwitch) + 1);
    const name =
      program === 'systemd-run' ? `switch ${words[0]}` : program === 'systemctl' ? String(args[0]) : program;
    if (name === 'switch may-cut') {
      guarded.push(steps.at(-1) ?? '');
      const why = mayCut.shift() ?? null;
      if (why !== null) throw new Error(`systemd-run: ${why}`);
      return '';
    }
    steps.push(name);
    const { step = null, version = null } = (await readProgress(places)) ?? {};
    told.push(`${name}: ${step} ${version}`);
    await at(name);
    switch (name) {
      case 'switch to':
        await writeFile(places.trial, `${await current()} ${words[1]} ready`);
        await point(String(words[1]));
        break;
      case 'switch confirm':
        await rm(places.trial, { force: true });
        break;
      case 'switch back':
        await point(RUNNING);
        await rm(places.trial, { force: true });
        break;
      case 'switch overdue': {
        const trial = await readTrial(places);
        if (trial === null) throw new Error('no trial');
        await point(trial.from);
        await writeFile(places.returned, `${trial.from} ${trial.to}`);
        await rm(places.trial);
      }
    }
    return '';
  };
  const update = async (change: Partial<UpdaterDeps> = {}): Promise<Progress> => {
    const updater = new Updater({
      places,
      upload: join(base, 'node/update/bundle'),
      arch: HERE,
      health: {
        armed: async () => armed,
        check: async (version: string) => health(version),
        processes: async () => processes(),
      } as unknown as NodeHealth,
      healthMs: 2000,
      holdMs: 0,
      trialMs: 0,
      pollMs: 1,
      run,
      monotonic: () => monotonic,
      now: Date.now,
      log: silentLog,
      ...change,
    });
    await updater.run();
    const said = await readProgress(places);
    if (said === null) throw new Error('it says nothing');
    return said;
  };
  const bundle = async (options: Partial<BundleOptions> = {}, out = places.bundle) =>
    bundleOf(join(base, `tree-${Math.random()}`), out, keys, { version: NEXT, ...options });
  const BAD_KEYS = ['a-empty.pub', 'b-text.pub', 'c-folder.pub', 'd-open.pub', 'e-link.pub', 'f-cut.pub'];
  const badKeys = async (): Promise<void> => {
    const key = (name: string): string => join(places.keys, name);
    await writeFile(key('a-empty.pub'), '');
    await writeFile(key('b-text.pub'), 'no key');
    await mkdir(key('c-folder.pub'));
    await writeFile(key('d-open.pub'), newKeys().publicText);
    await chmod(key('d-open.pub'), 0o666);
    await symlink('/etc/passwd', key('e-link.pub'));
    await writeFile(key('f-cut.pub'), newKeys().publicText.slice(0, 60));
  };
  const asked = async (job: Partial<Job>): Promise<void> =>
    writeFile(places.job, JSON.stringify({ force: false, by_root: false, ...job }));
  /** Nothing of it is left, and the version that ran still runs. */
  const unchanged = async (): Promise<void> => {
    expect(await current()).to.equal(RUNNING);
    expect(await readdir(places.versions)).to.deep.equal([RUNNING]);
    expect(await readTrial(places)).to.equal(null);
    expect(await readdir(places.keep)).to.deep.equal(['progress.json']);
  };

  it('check, unpack, look whether it is armed, switch, restart, look how it is, confirm: in this order', async () => {
    await bundle();
    await asked({});
    const looked: string[] = [];
    at = async (step) => {
      if (step === 'flock') return;
      const there = (await readdir(places.versions)).toSorted();
      looked.push(`${step}: ${there.join(' ')} -> ${await current()}`);
    };
    health = async (version) => {
      steps.push(`health ${version}`);
      return 'p1';
    };
    const updated = await update({
      health: {
        armed: async () => {
          steps.push('armed?');
          return false;
        },
        check: async (version: string) => health(version),
        processes: async () => processes(),
      } as unknown as NodeHealth,
    });
    expect(updated).to.deep.equal({ step: 'done', percent: null, error: null, version: NEXT });
    expect(steps).to.deep.equal([
      'flock',
      'sync',
      'armed?',
      'switch to',
      'restart',
      `health ${NEXT}`,
      'switch confirm',
    ]);
    expect(looked).to.deep.equal([
      `sync: .new-${NEXT} ${RUNNING} -> ${RUNNING}`,
      `switch to: ${RUNNING} ${NEXT} -> ${RUNNING}`,
      `restart: ${RUNNING} ${NEXT} -> ${NEXT}`,
      `switch confirm: ${RUNNING} ${NEXT} -> ${NEXT}`,
    ]);
    expect(told).to.deep.equal([
      'flock: null null',
      `sync: unpacking ${NEXT}`,
      `switch to: switching ${NEXT}`,
      `restart: checking ${NEXT}`,
      `switch confirm: checking ${NEXT}`,
    ]);
    expect(await readdir(places.keep), 'bundle and job are gone').to.deep.equal(['progress.json']);
    expect(await readFile(join(places.versions, NEXT, 'update-manifest.json'), 'utf8')).to.include(NEXT);
  });

  it('programs are called with their arguments and a time-out', async () => {
    await bundle();
    const calls: unknown[] = [];
    await update({
      run: async (program, args, timeoutMs) => {
        calls.push([program, args, timeoutMs]);
        return run(program, args, timeoutMs);
      },
    });
    const switching = ['--quiet', '--collect', '--wait', '--pipe', places.svcSwitch];
    expect(calls).to.deep.equal([
      ['flock', [join(places.keep, '.switch.lock'), 'true'], 120_000],
      ['sync', ['-f', join(places.versions, `.new-${NEXT}`)], 300_000],
      ['systemd-run', [...switching, 'may-cut'], 120_000],
      ['systemd-run', [...switching, 'to', NEXT], 120_000],
      ['systemd-run', [...switching, 'may-cut'], 120_000],
      ['systemctl', ['restart', 'svc.service'], 120_000],
      ['systemd-run', [...switching, 'confirm'], 120_000],
    ]);
  });

  it('the armed guard is asked right before the switch and right before the restart, except by force', async () => {
    await bundle();
    await update();
    expect(guarded).to.deep.equal(['sync', 'switch to']);
    guarded = [];
    await bundle({ version: '2.0.0' });
    await asked({ force: true });
    await update();
    expect(guarded).to.deep.equal([]);
  });

  it('a vehicle that is silent or armed to svc-link: nothing is switched, also where the node says disarmed', async () => {
    await bundle();
    mayCut = ['svc-link does not answer.'];
    expect(await update()).to.include({
      step: 'failed',
      error: 'Nothing was changed: svc-link does not answer.',
    });
    expect(steps).to.not.include('switch to').and.not.include('restart');
    expect(await current()).to.equal(RUNNING);
  });

  it('one that armed between the switch and the restart: the version before is in place again, and was never cut', async () => {
    await bundle();
    mayCut = [null, 'The vehicle is armed.'];
    expect((await update()).error).to.include('Nothing was changed: The vehicle is armed.');
    expect(steps).to.include('switch back').and.not.include('restart');
    expect(await current()).to.equal(RUNNING);
    expect(await readTrial(places)).to.equal(null);
  });

  describe('what is refused changes nothing', () => {
    const refusals: readonly (readonly [
      string,
      Partial<BundleOptions>,
      Partial<Job>,
      { floor?: string; armed?: unknown },
      string,
    ])[] = [
      [
        'another machine',
        { arch: OTHER },
        {},
        {},
        `The bundle is for ${OTHER}, and this machine is ${HERE}.`,
      ],
      [
        'the version that runs',
        { version: RUNNING },
        { by_root: true },
        {},
        `Version ${RUNNING} runs already.`,
      ],
      ['an older one', { version: '0.9.0' }, {}, {}, 'is older than 1.0.0'],
      [
        'a floor too low',
        { floor: 1 },
        { by_root: true, force: true },
        { floor: '12' },
        'none below 12 may run',
      ],
      ...['', '\0\0', 'x2', '2 x'].map(
        (floor) =>
          [`a floor that is lost (${JSON.stringify(floor)})`, {}, {}, { floor }, 'has no number'] as const,
      ),
      ['while armed', {}, {}, { armed: true }, 'The vehicle is armed.'],
      ['while armed, by root', {}, { by_root: true }, { armed: true }, 'The vehicle is armed.'],
      ['while nobody knows', {}, {}, { armed: null }, 'Nobody knows whether'],
      ['while it is not known', {}, { by_root: true }, { armed: 'unknown' }, 'Nobody knows whether'],
    ];
    for (const [what, options, job, state, sentence] of refusals)
      it(what, async () => {
        await bundle(options);
        await asked(job);
        if (state.floor !== undefined) await writeFile(places.floor, state.floor);
        armed = 'armed' in state ? state.armed : false;
        const said = await update();
        expect(said).to.include({ step: 'failed', percent: null });
        expect(said.error).to.include(sentence);
        expect(steps.filter((step) => step.startsWith('switch') || step === 'restart')).to.deep.equal([]);
        await rm(places.floor, { force: true });
        // What was unpacked before it turned out to be armed may stay: the next time it is replaced.
        await rm(join(places.versions, NEXT), { recursive: true, force: true });
        await unchanged();
      });

    it('what is no version', async () => {
      await bundle({ version: '1.1.0-01' });
      expect((await update()).error).to.equal('1.1.0-01 is no version.');
      await unchanged();
    });

    it('a bundle of more than 200 MiB, before it is copied', async () => {
      const out = join(base, 'node/update');
      await mkdir(out);
      await truncate(await made(join(out, 'bundle')), 200 * 1024 * 1024 + 1);
      expect((await update()).error).to.equal('The bundle has more than 200 MiB.');
    });

    it('keys that are none', async () => {
      await bundle({ newKeys: { 'second.pub': 'no key' } });
      expect((await update()).step).to.equal('failed');
      expect(steps).to.deep.equal(NO_STEP);
      await unchanged();
    });

    it('a bundle of nobody whose key is here', async () => {
      await bundle();
      await writeFile(join(places.keys, 'first.pub'), newKeys().publicText);
      expect((await update()).step).to.equal('failed');
      expect(steps).to.deep.equal(NO_STEP);
      await unchanged();
    });

    it('keys that do not count: each is named', async () => {
      await bundle();
      await rm(join(places.keys, 'first.pub'));
      await badKeys();
      const { step, error } = await update();
      expect(step).to.equal('failed');
      for (const name of BAD_KEYS) expect(error).to.include(join(places.keys, name));
      expect(error).to.include('which is not trusted here');
      await unchanged();
    });

    it('no version is installed here', async () => {
      await bundle();
      await rm(places.current);
      expect((await update()).error).to.equal('No version is installed here.');
      expect(steps).to.deep.equal(NO_STEP);
    });

    it('one that another was switched to meanwhile', async () => {
      await bundle();
      await writeVersion(join(places.versions, '1.0.5'), { version: '1.0.5' });
      at = async (step) => {
        if (step === 'sync') await point('1.0.5');
      };
      expect((await update()).error).to.include('Another version was switched to meanwhile');
      expect([steps, await readdir(places.versions)]).to.deep.equal([
        ['flock', 'sync'],
        [RUNNING, '1.0.5'],
      ]);
    });

    it('a switch that cannot', async () => {
      await bundle();
      at = (step) => {
        if (step === 'switch to') throw new Error('systemd says no');
      };
      expect(await update()).to.deep.include({ step: 'failed', error: 'systemd says no', version: NEXT });
      expect(steps).to.deep.equal(['flock', 'sync', 'switch to']);
    });

    it('a full disk, in one sentence', async () => {
      await bundle();
      at = (step) => {
        if (step === 'sync') throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      };
      expect((await update()).error).to.equal('The disk is full. Delete recordings or logs.');
      expect(await readdir(places.versions)).to.deep.equal([RUNNING]);
    });
  });

  describe('what is allowed', () => {
    for (const [what, options, job, state] of [
      ['an older one, by root', { version: '0.9.0' }, { by_root: true }, {}],
      ['while armed, with force', {}, { force: true }, { armed: true }],
      ['while nobody answers, by root', {}, { by_root: true }, { armed: null }],
      ['the floor that is there', { floor: 2 }, {}, { floor: '2' }],
      ['a higher floor', { floor: 3 }, {}, { floor: '2' }],
    ] as const)
      it(what, async () => {
        const { version } = await bundle(options);
        await asked(job);
        if ('floor' in state) await writeFile(places.floor, state.floor);
        armed = 'armed' in state ? state.armed : false;
        expect(await update()).to.deep.include({ step: 'done', error: null, version });
        expect(steps).to.deep.equal(WHOLE);
      });

    it('a bundle of a key that counts, beside others that do not', async () => {
      await bundle();
      await badKeys();
      expect(await update()).to.deep.include({ step: 'done', error: null, version: NEXT });
    });

    it('one that was installed before is replaced whole, and nothing hidden stays', async () => {
      await bundle();
      await writeVersion(join(places.versions, NEXT), { version: NEXT, files: { 'left-over': 'x' } });
      await mkdir(join(places.versions, '.new-0.1.0'));
      await mkdir(join(places.versions, '.old-0.1.0'));
      await mkdir(join(places.versions, '.other'));
      await update();
      expect((await readdir(places.versions)).toSorted()).to.deep.equal(['.other', RUNNING, NEXT]);
      expect(await readdir(join(places.versions, NEXT))).to.not.include('left-over');
    });

    it('keys that it brings count once it stays, and not before', async () => {
      const brought = newKeys();
      await bundle({ newKeys: { 'second.pub': brought.publicText } });
      at = async (step) => {
        if (step === 'restart') expect(await readdir(places.keys)).to.deep.equal(['first.pub']);
        if (step === 'switch confirm') expect(await readdir(places.keys)).to.include('second.pub');
      };
      expect((await update()).step).to.equal('done');
      await bundle({ version: '1.2.0', newKeys: { 'third.pub': newKeys().publicText } });
      health = async () => {
        monotonic += 3000;
        throw new Error('it is not ready');
      };
      await update();
      expect(await readdir(places.keys)).to.not.include('third.pub');
    });
  });

  describe('what does not stay goes back', () => {
    const goesBack = async (why: string, change: Partial<UpdaterDeps> = {}): Promise<void> => {
      const said = await update(change);
      expect(said).to.include({ step: 'returned', version: NEXT });
      expect(said.error).to.equal(
        `Version ${NEXT} did not come up as it should, so ${RUNNING} runs again. ${why}`,
      );
      expect(await current()).to.equal(RUNNING);
    };

    it('is not well in its time', async () => {
      await bundle();
      health = async () => {
        monotonic += 1001;
        throw new Error('it is not ready');
      };
      await goesBack('After 2 s, it is not ready.');
      expect(steps).to.deep.equal(['flock', 'sync', 'switch to', 'restart', 'switch overdue']);
    });

    it('is well and never for long enough, because it is started again and again', async () => {
      await bundle();
      let count = 0;
      health = async () => {
        monotonic += 700;
        return `p${count++}`;
      };
      await goesBack('After 2 s, it was restarted again and again.', { holdMs: 700 });
    });

    it('had to be started once more', async () => {
      await bundle();
      at = async (step) => {
        if (step !== 'restart') return;
        await rm(places.trial);
        await point(RUNNING);
      };
      await goesBack('It had to be started again.');
      expect(steps).to.deep.equal(['flock', 'sync', 'switch to', 'restart']);
    });

    it('systemd cannot restart it', async () => {
      await bundle();
      at = (step) => {
        if (step === 'restart') throw new Error('Job failed');
      };
      await goesBack('Job failed');
      expect(steps.at(-1)).to.equal('switch overdue');
    });

    it('is not confirmed', async () => {
      await bundle();
      at = (step) => {
        if (step === 'switch confirm') throw new Error('too late');
      };
      await goesBack('too late');
      expect(steps.slice(-2)).to.deep.equal(['switch confirm', 'switch overdue']);
    });

    for (const [what, late] of [
      [
        'went back while it was being confirmed',
        async () => writeFile(places.returned, `${RUNNING} ${NEXT}`),
      ],
      ['another runs when it was confirmed', async () => point(RUNNING)],
    ] as const)
      it(what, async () => {
        await bundle();
        at = async (step) => {
          if (step === 'switch confirm') await late();
        };
        const said = await update();
        expect(said.step).to.equal('returned');
        expect(said.error).to.include('It was not confirmed in time.');
      });
  });

  it('has to be well for a while, from the last restart on', async () => {
    await bundle();
    const pids = ['p1', 'p2', 'p2'];
    let asks = 0;
    health = async () => {
      monotonic += 1000;
      return pids[Math.min(asks++, 2)] ?? '';
    };
    expect((await update({ holdMs: 1000, healthMs: 60_000 })).step).to.equal('done');
    expect(asks).to.equal(3);
  });

  describe('the trial', () => {
    /** A version whose processes end at these seconds of the trial, so; each look takes a second. */
    const ending = (ends: Readonly<Record<number, 'fails' | 'is replaced'>>): (() => number) => {
      let second = 0;
      let [pid, failed] = [1, false];
      processes = () => {
        monotonic += 1000;
        const how = ends[++second];
        if (how !== undefined) [pid, failed] = [pid + 1, how === 'fails'];
        if (how === 'fails') throw new Error('svc-link is waiting');
        return [{ name: 'svc-link', pid, restarts: pid - 1, failed }];
      };
      return () => second;
    };
    const marks: string[] = [];
    const trial = async (trialMs = 300_000): Promise<Progress> => {
      marks.length = 0;
      return update({
        trialMs,
        run: async (program, args, timeoutMs) => {
          if (args.includes('well')) marks.push(args.slice(-2).join(' '));
          return run(program, args, timeoutMs);
        },
      });
    };
    const each = (seconds: number, how: 'fails' | 'is replaced') =>
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [seconds * (index + 1), how] as const));

    it('is over after its time without a restart, and written down meanwhile', async () => {
      await bundle();
      const seconds = ending({});
      expect((await trial(100_000)).step).to.equal('done');
      expect(seconds()).to.be.within(98, 103);
      expect(marks).to.deep.equal(['0 0', '30 0', '60 0', '90 0']);
    });

    it('a process that fails 12 s after each start: it goes back', async () => {
      await bundle();
      const seconds = ending(each(12, 'fails'));
      const said = await trial();
      expect([said.step, await current()]).to.deep.equal(['returned', RUNNING]);
      expect(said.error).to.include('svc-link failed, the 3rd time');
      expect(seconds()).to.be.lessThan(60);
    });

    it('one failure, or a restart that somebody asked for: its time begins anew', async () => {
      await bundle();
      const seconds = ending({ 20: 'fails', 40: 'is replaced', 58: 'is replaced' });
      expect((await trial(60_000)).step).to.equal('done');
      expect(seconds()).to.be.within(116, 121);
    });

    it('each process is looked at by its name; another pid or another count alone is a restart', async () => {
      const proc = (name: string, pid: number, restarts: number) => ({ name, pid, restarts, failed: false });
      for (const [change, wanted] of [
        [proc('svc-link', 1, 0), 10],
        [proc('svc-link', 7, 0), 15],
        [proc('svc-link', 1, 1), 15],
      ] as const) {
        await rm(places.trial, { force: true });
        await point(RUNNING);
        await bundle();
        let second = 0;
        processes = () => {
          monotonic += 1000;
          return [++second < 5 ? proc('svc-link', 1, 0) : change, proc('svc-control', 2, 3)];
        };
        expect((await trial(10_000)).step).to.equal('done');
        expect(second, JSON.stringify(change)).to.be.within(wanted - 1, wanted + 2);
      }
    });

    it('a look that fails breaks the quiet, and a restart is written down at once', async () => {
      await bundle();
      monotonic = 1e9; // the machine has run for long
      let second = 0;
      processes = () => {
        monotonic += 1000;
        if (++second === 20) throw new Error('svc-link is waiting');
        return [{ name: 'svc-link', pid: second < 8 ? 1 : 2, restarts: 0, failed: false }];
      };
      expect((await trial(35_000)).step).to.equal('done');
      expect(second).to.be.within(54, 57);
      expect(marks).to.deep.equal(['0 0', '0 0', '17 0']);
    });

    it('is replaced again and again, for ever: it goes back in the end', async () => {
      await bundle();
      ending(each(8, 'is replaced'));
      expect((await trial(20_000)).error).to.include('again and again for 2 min');
    });

    it('nobody answers any more: it goes back', async () => {
      await bundle();
      processes = () => {
        monotonic += 1000;
        throw new Error('it does not answer (x)');
      };
      expect((await trial()).error).to.include('For 2 s, it does not answer (x).');
    });

    for (const [of, step, least, most] of [
      ['200 0', 'done', 98, 103],
      ['0 2', 'returned', 12, 15],
    ] as const)
      it(`goes on after another start of the machine with its seconds and failures: ${of}`, async () => {
        await writeVersion(join(places.versions, NEXT), { version: NEXT });
        await point(NEXT);
        await writeFile(places.trial, `${RUNNING} ${NEXT} well boot 2 ${of}`);
        const seconds = ending(step === 'done' ? {} : each(12, 'fails'));
        expect((await trial()).step).to.equal(step);
        expect(seconds()).to.be.within(least, most);
      });
  });

  it('the switch is that of the version that runs, from before the next one is switched to', async () => {
    await bundle();
    await writeFile(join(places.versions, RUNNING, 'deploy/svc-switch'), 'newer');
    await writeFile(places.svcSwitch, 'older');
    at = async (step) => {
      if (step === 'switch to') expect(await readFile(places.svcSwitch, 'utf8')).to.equal('newer');
    };
    expect((await update()).step).to.equal('done');
  });

  it('the switch stays where the version that runs brings none, or the same', async () => {
    for (const own of [null, 'older']) {
      await bundle();
      await rm(places.trial, { force: true });
      await point(RUNNING);
      const file = join(places.versions, RUNNING, 'deploy/svc-switch');
      if (own === null) await rm(file, { force: true });
      else await writeFile(file, own);
      await writeFile(places.svcSwitch, 'older');
      const { ino } = await stat(places.svcSwitch);
      expect((await update()).step, String(own)).to.equal('done');
      expect([(await stat(places.svcSwitch)).ino, await readFile(places.svcSwitch, 'utf8')]).to.deep.equal([
        ino,
        'older',
      ]);
    }
  });

  describe('started again after it was killed', () => {
    const say = async (progress: Partial<Progress>): Promise<void> =>
      writeFile(
        places.progress,
        JSON.stringify({ step: 'checking', percent: null, error: null, version: NEXT, ...progress }),
      );

    it('a version that is switched to and not started: it is started and proved', async () => {
      await writeVersion(join(places.versions, NEXT), { version: NEXT });
      await point(NEXT);
      await writeFile(places.trial, `${RUNNING} ${NEXT} ready`);
      expect(await update()).to.deep.include({ step: 'done', version: NEXT });
      expect(steps).to.deep.equal(['flock', 'restart', 'switch confirm']);
    });

    it('a version that was started: it is not started a second time', async () => {
      await writeVersion(join(places.versions, NEXT), { version: NEXT });
      await point(NEXT);
      await writeFile(places.trial, `${RUNNING} ${NEXT} started`);
      expect((await update()).step).to.equal('done');
      expect(steps).to.deep.equal(['flock', 'switch confirm']);
    });

    it('after a trial that went well, before it was said', async () => {
      await say({ version: RUNNING });
      expect(await update()).to.deep.include({ step: 'done', error: null });
      expect(steps).to.deep.equal(NO_STEP);
    });

    it('after a trial that did not, before it was said', async () => {
      await say({});
      const said = await update();
      expect([said.step, said.error]).to.deep.equal([
        'returned',
        `Version ${NEXT} did not come up as it should, so ${RUNNING} runs again.`,
      ]);
      expect(steps).to.deep.equal(NO_STEP);
    });

    for (const progress of [
      { step: 'checking', version: null },
      { step: 'done' },
      { step: 'failed' },
    ] as const)
      it(`with nothing left to do, after ${progress.step}: nothing is done`, async () => {
        await say(progress);
        const before = await readFile(places.progress, 'utf8');
        await update();
        expect(await readFile(places.progress, 'utf8')).to.equal(before);
        expect(steps).to.deep.equal(NO_STEP);
      });

    it('the trial that follows the switch is gone: says which version runs', async () => {
      await bundle();
      const lost: UpdaterDeps['run'] = async (program, args, timeoutMs) => {
        const said = await run(program, args, timeoutMs);
        if (steps.at(-1) === 'switch to') {
          await rm(places.trial);
          await point(RUNNING);
          await writeFile(places.returned, `${RUNNING} ${NEXT}`);
        }
        return said;
      };
      const said = await update({ run: lost });
      expect([said.step, said.error]).to.deep.equal([
        'returned',
        `Version ${NEXT} did not come up as it should, so ${RUNNING} runs again.`,
      ]);
    });
  });

  const made = async (path: string): Promise<string> => {
    await writeFile(path, '');
    return path;
  };

  describe('a bundle that came over the API', () => {
    const upload = (): string => join(base, 'node/update/bundle');
    beforeEach(async () => mkdir(join(base, 'node/update')));

    it('is copied to where only root can change it, and emptied', async () => {
      await bundle({}, upload());
      at = async (step) => {
        if (step === 'sync') expect((await readFile(upload())).length).to.equal(0);
      };
      expect(await update()).to.deep.include({ step: 'done', version: NEXT });
      expect((await readFile(upload())).length).to.equal(0);
    });

    it('is not asked for where one is here already', async () => {
      await bundle();
      await writeFile(upload(), 'no bundle');
      expect((await update()).step).to.equal('done');
      expect(await readFile(upload(), 'utf8')).to.equal('no bundle');
    });

    it('that is empty was taken before', async () => {
      await writeFile(upload(), '');
      await rm(places.progress, { force: true });
      await update().catch((error: Error) => expect(error.message).to.equal('it says nothing'));
      expect(steps).to.deep.equal(NO_STEP);
    });

    it('says how far it is, each half second at most', async () => {
      await bundle({ files: { 'a.bin': 'x'.repeat(300_000) } }, upload());
      const percents: string[] = [];
      let at500 = 0;
      const watched = async (): Promise<void> => {
        const { step, percent } = (await readProgress(places)) ?? {};
        percents.push(`${step} ${percent}`);
      };
      at = async (step) => {
        if (step === 'sync') await watched();
      };
      await update({ monotonic: () => (at500 += 500) });
      const [last = ''] = percents;
      expect(last).to.match(/^unpacking ([1-9]\d?|100)$/);
      await bundle({ version: '1.2.0' }, upload());
      percents.length = 0;
      await update({ monotonic: () => 0 });
      expect(percents).to.deep.equal(['unpacking 0']);
    });

    it('through a link, a hard link or a folder: refused, and nothing of it is read', async () => {
      const secret = join(base, 'secret');
      await writeFile(secret, 'secret');
      await symlink(secret, upload());
      expect((await update()).step).to.equal('failed');
      expect(await readFile(secret, 'utf8')).to.equal('secret');
      await rm(upload());
      await link(secret, upload());
      expect((await update()).error).to.include('is not a plain file of the node');
      expect(await readFile(secret, 'utf8')).to.equal('secret');
      await rm(upload());
      await mkdir(upload());
      expect((await update()).step).to.equal('failed');
      expect(steps).to.deep.equal(['flock', 'flock', 'flock']);
    });
  });
});
