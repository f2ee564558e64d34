import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { changeFile } from '../../front/control/radio/channel-change/change-file.ts';
import { type End, NEW, OLD, REVERT_MS, World } from '../support/radio-world.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** How long after everything works again the two ends may need. */
const TIME_MS = 30_000;
const FOR_GOOD = Infinity;
const BUSY = /Device or resource busy/;
const ALL_WELL = { channel: NEW, frequency_mhz: 5745, proved: true, reverted: false, reason: null };

interface Fault {
  readonly name: string;
  readonly happens: (world: World) => void;
  /** It works again after a while; else it is enough that both say why they do not meet. */
  readonly passes: boolean;
}

const ENDS = ['drone', 'ground'] as const;
const atEnds = (what: string, happens: (end: End) => void, passes = true): readonly Fault[] =>
  ENDS.map((end) => ({ name: `${end}: ${what}`, happens: (world) => happens(world[end]), passes }));

const FAULTS: readonly Fault[] = [
  ...atEnds('svc-control is killed', (end) => end.kill()),
  ...atEnds('svc-link is killed', (end) => end.killLink()),
  ...atEnds('the node is killed', (end) => end.killNode()),
  ...atEnds('the power is cut', (end) => end.cutPower()),
  ...[OLD, NEW].flatMap((channel) => [
    ...atEnds(`the card is busy on channel ${channel} for 6 s`, (end) => end.refuse(channel, 6000)),
    ...atEnds(`the card refuses channel ${channel} for good`, (end) => end.refuse(channel, FOR_GOOD), false),
  ]),
  {
    name: 'the relay carries nothing for 6 s',
    happens: (world) => world.loseRelay('nothing', 6000),
    passes: true,
  },
  {
    name: 'the relay loses the answers for 6 s',
    happens: (world) => world.loseRelay('no answers', 6000),
    passes: true,
  },
  {
    name: 'both are killed',
    happens: ({ drone, ground }) => {
      drone.kill();
      ground.kill();
    },
    passes: true,
  },
];

/** A change from OLD to NEW in which faults happen, each at a step of it counted from 1. */
async function changed(
  faults: readonly { readonly at: number; readonly happens: Fault['happens'] }[],
  drones = 1,
): Promise<World> {
  const world = new World(drones);
  await world.start();
  world.onStep = (number) => {
    for (const { at, happens } of faults) {
      if (number !== at) continue;
      world.quietFrom = Math.max(world.quietFrom, world.clock.now());
      happens(world);
    }
  };
  await world.ask(NEW);
  return world;
}

/** Both ends have agreed on one channel in time, or both say why not. */
async function agrees(world: World, passes: boolean, when: string): Promise<void> {
  const { clock, drone, ground, quietFrom } = world;
  const settled = await clock.until(
    () => clock.now() >= quietFrom && world.isSettled,
    quietFrom + TIME_MS - clock.now(),
  );
  const told = !passes && drone.change?.problem != null && ground.change?.problem != null;
  const words = [...drone.lines, '--', ...ground.lines].join('\n');
  const where = `drone ${drone.channel}, ground station ${ground.channel}`;
  expect(
    settled || told,
    `${when}: ${where} ${JSON.stringify([drone.disk, ground.disk])}\n${words}`,
  ).to.equal(true);
  if (settled) expect(ground.channel).to.be.oneOf([OLD, NEW]);
  for (const { lines } of world.ends) expect(lines.length, `the log fills up\n${words}`).to.be.below(14);
}

describe('a change of the channel', () => {
  it('moves both ends, is kept by both, and leaves no file', async () => {
    const world = new World();
    await world.start();
    expect(await world.ask(NEW)).to.deep.equal(ALL_WELL);
    expect(world.isSettled).to.equal(true);
    expect(world.ground.channel).to.equal(NEW);
  });
  it('a drone’s svc-control killed right after its switch: not proved by the keepalive that goes on, but by its own word later', async () => {
    const world = new World();
    await world.start();
    let killedAt = 0;
    world.onStep = (_number, what) => {
      if (what !== `drone: tunes to ${NEW}, done` || world.steps.filter((step) => step === what).length !== 2)
        return;
      killedAt = world.clock.now();
      world.drone.kill(7000);
    };
    const answer = await world.ask(NEW);
    expect(killedAt).to.be.greaterThan(0);
    // In the first 7 s nobody could have said anything.
    expect(world.clock.now() - killedAt).to.be.greaterThan(7000);
    expect(answer).to.include({ proved: true });
    expect(world.isSettled).to.equal(true);
    expect(answer).to.include({ channel: world.drone.channel });
  });
  it('a ground station’s card that refuses, for a while or for good: nobody has moved, and the reason is told', async () => {
    for (const ms of [60_000, FOR_GOOD]) {
      const world = new World();
      await world.start();
      world.ground.refuse(NEW, ms);
      expect(await world.ask(NEW)).to.match(BUSY);
      await world.clock.until(() => world.isSettled, TIME_MS);
      expect([world.drone.channel, world.ground.channel]).to.deep.equal([OLD, OLD]);
      expect(world.isSettled).to.equal(true);
      expect(world.steps.filter((step) => step.includes('commit'))).to.deep.equal([]);
    }
  });
  it('a ground station’s card that took the channel, and refuses it for good when it counts: the drone does not stay alone', async () => {
    const world = new World();
    await world.start();
    world.onStep = (_number, what) => {
      if (what === 'ground: asked commit') world.ground.refuse(NEW, FOR_GOOD);
    };
    const answer = await world.ask(NEW);
    expect(answer).to.include({ channel: OLD, proved: true, reverted: true });
    expect(answer).to.have.property('reason').that.matches(BUSY);
    expect(world.isSettled).to.equal(true);
  });
  it('a channel that the region of one end forbids is refused before a card is touched', async () => {
    for (const end of ENDS) {
      const world = new World();
      await world.start();
      world[end].forbidden = NEW;
      expect(await world.ask(NEW)).to.match(/not in this region/);
      await world.clock.until(() => world.isSettled, TIME_MS);
      expect(world.isSettled).to.equal(true);
      expect(world.steps.filter((step) => step.includes(`tunes to ${NEW}`))).to.deep.equal([]);
    }
  });
  it('a drone whose card refuses: nobody has moved, and the drone’s reason is told', async () => {
    const world = new World();
    await world.start();
    world.drone.refuse(NEW, FOR_GOOD);
    expect(await world.ask(NEW)).to.match(/drone refuses: Device or resource busy/);
    expect([world.isSettled, world.ground.channel]).to.deep.equal([true, OLD]);
  });
  it('a channel that the air does not carry: both are back within seconds, and it is said', async () => {
    const world = new World();
    await world.start();
    world.deadChannel = NEW;
    const answer = await world.ask(NEW);
    expect(answer).to.include({ channel: OLD, proved: true, reverted: true });
    expect(answer)
      .to.have.property('reason')
      .that.matches(/149 was not confirmed.*back on channel 36/);
    expect(world.isSettled).to.equal(true);
    // Back after the time that it has, whatever was heard before it switched.
    const [, left = 0] = world.timesOf(`drone: tunes to ${OLD}`);
    const [, switched = 0] = world.timesOf(`drone: tunes to ${NEW}, done`);
    expect(left - switched).to.be.within(REVERT_MS, REVERT_MS + 100);
  });
  it('a drone that is heard across two channels is believed by what it says, not because it is heard', async () => {
    const world = new World();
    await world.start();
    world.leaks = true;
    world.onStep = (_number, what) => {
      if (what === 'ground: asked commit') world.drone.refuse(NEW, FOR_GOOD);
    };
    const answer = await world.ask(NEW);
    expect(answer).to.include({ channel: OLD, proved: true, reverted: true });
    expect([world.isSettled, world.drone.channel]).to.deep.equal([true, OLD]);
  });
  it('a drone that does not know any more whether it is armed goes on with what has begun, and begins nothing', async () => {
    const world = new World();
    await world.start();
    world.onStep = (_number, what) => {
      if (what === 'ground: asked prepare') world.drone.killLink();
    };
    expect(await world.ask(NEW)).to.deep.equal(ALL_WELL);
    world.drone.killLink();
    expect(await world.ask(OLD)).to.match(/not known whether the vehicle is armed/);
    await world.clock.until(() => world.isSettled, TIME_MS);
    expect([world.drone.channel, world.ground.channel]).to.deep.equal([NEW, NEW]);
  });
  it('a card that refuses for long is asked after 1, 2, 4 … 30 s, with one line in the log, while the other channel is listened to', async () => {
    const world = new World();
    await world.start();
    world.onStep = (_number, what) => {
      if (what !== `drone: tunes to ${NEW}, done` || world.drone.refuses.size > 0) return;
      world.drone.refuse(OLD, FOR_GOOD); // in its trial: it cannot go back
      world.loseRelay('nothing', 300_000);
    };
    await world.ask(NEW);
    const asked = (): number => world.steps.filter((step) => step === `drone: tunes to ${OLD}`).length;
    const before = asked();
    await world.clock.until(() => false, 240_000);
    expect(asked() - before).to.be.within(5, 10);
    expect(world.drone.channel).to.equal(NEW);
    expect(world.drone.lines.filter((line) => BUSY.test(line))).to.have.length(1);
    expect(world.drone.change?.problem).to.match(BUSY);
    world.air = 'carries';
    expect(await world.clock.until(() => world.isSettled, TIME_MS)).to.equal(true);
    expect(world.ground.channel).to.equal(NEW);
    expect(world.drone.change?.problem).to.equal(null);
  });
  it('two drones: a third of the ends that fails takes nobody away from the others', async () => {
    for (const fault of ['none', 'refuses', 'killed', 'off'] as const) {
      const world = new World(2);
      await world.start();
      const second = world.drones[1];
      world.onStep = (_number, what) => {
        if (what !== 'drone2: tunes to 36, done' || second === undefined) return;
        world.onStep = () => undefined;
        if (fault === 'refuses') second.refuse(NEW, FOR_GOOD);
        if (fault === 'killed') second.kill();
        if (fault === 'off') second.kill(100_000);
      };
      await world.ask(NEW);
      const { drone, ground } = world;
      const together = (): boolean =>
        drone.channel === ground.channel && drone.disk === null && drone.kept === ground.kept;
      expect(
        await world.clock.until(fault === 'off' ? together : () => world.isSettled, TIME_MS),
        fault,
      ).to.equal(true);
      if (fault === 'none') expect(ground.channel).to.equal(NEW);
      if (fault !== 'off') continue;
      // When it is back it is met, and the first has stayed.
      expect(ground.change?.problem).to.match(/drone2/);
      expect(await world.clock.until(() => world.isSettled, 130_000)).to.equal(true);
    }
  });
  it('one that is not over is not begun again, unless no drone is heard: then the operator has the last word', async () => {
    const world = new World();
    await world.start();
    let kept = 0;
    world.onStep = (_number, what) => {
      if (what === `drone: keeps ${NEW}` && kept++ === 0) world.loseRelay('no answers', 3000);
    };
    expect(await world.ask(NEW)).to.include({ channel: NEW, proved: true });
    expect(await world.ask(OLD)).to.match(/Not every drone has confirmed/);
    await world.clock.until(() => world.isSettled, TIME_MS);
    expect(await world.ask(OLD)).to.include({ channel: OLD, proved: true });
    world.drone.kill(60_000);
    await world.clock.until(() => false, 12_000);
    expect(await world.ask(44)).to.include({ channel: 44, proved: false });
    expect(world.ground.disk).to.equal(null);
  });
  it('a phase that does not belong to a change, or comes from an older ground station, moves no drone', async () => {
    const world = new World();
    await world.start();
    const { drone } = world;
    const said = async (request: Parameters<NonNullable<End['change']>['request']>[0]): Promise<unknown> => {
      let words: unknown = null;
      drone.change?.request(request).then(
        (answer) => (words = answer),
        (error: Error) => (words = error.message),
      );
      await world.clock.until(() => words !== null, 5000);
      return words;
    };
    expect(await said({ channel: NEW, phase: 'commit', id: 'x', in_ms: 1 })).to.match(/not prepared/);
    expect(await said({ channel: NEW, phase: 'prepare', id: 'x' })).to.match(/channel of before/);
    expect(await said({ channel: NEW, phase: 'prepare', id: 'x', from: 44 })).to.match(
      /on channel 36, not on 44/,
    );
    expect(await said({ channel: NEW, phase: 'done', id: 'x' })).to.include({ channel: OLD, proved: false });
    expect(await said({ channel: NEW, phase: 'prepare', id: 'x', from: OLD })).to.include({ proved: true });
    // Asked in between, it knows that the change was given up; what comes late is of yesterday.
    expect(await said({ channel: OLD, phase: 'confirm', id: 'x' })).to.include({ proved: true });
    expect(await said({ channel: NEW, phase: 'commit', id: 'x', in_ms: 1 })).to.match(/not prepared/);
    expect(await said({ channel: OLD, phase: 'done', id: 'x' })).to.include({ channel: OLD, proved: true });
    expect(await said({ channel: NEW })).to.match(/is linked to its ground station/);
    expect([drone.channel, drone.kept, drone.disk]).to.deep.equal([OLD, OLD, null]);
  });
});

describe('the file of a change that is not over', () => {
  it('is what was written, is gone when it is removed, and is not believed when it is torn', async () => {
    const dir = await tempDir();
    try {
      const path = join(dir, 'radio-change.json');
      const file = changeFile(path);
      const open = { id: 'a', from: OLD, to: NEW, settled: null, drones: ['d'], left: ['d'] };
      expect(await file.read()).to.equal(null);
      await file.write(open);
      expect(await file.read()).to.deep.equal(open);
      for (const text of [
        '',
        '{"id":"a","from":36',
        '{"from":36,"to":149}',
        JSON.stringify({ ...open, to: 900 }),
      ]) {
        await writeFile(path, text);
        expect(await file.read().catch((error: unknown) => error), text).to.be.instanceOf(Error);
      }
      await file.remove();
      await file.remove();
      expect(await file.read()).to.equal(null);
    } finally {
      await removeDir(dir);
    }
  });
});

describe('a change of the channel, whatever happens at whichever step of it', function () {
  this.timeout(60_000);
  let steps: readonly string[];
  before(async () => {
    const world = await changed([]);
    expect(world.isSettled).to.equal(true);
    ({ steps } = world);
  });

  for (const { name, happens, passes } of FAULTS)
    it(`${name}: both are on one channel within 30 s${passes ? '' : ', or both say why'}`, async () => {
      expect(steps).to.have.length.greaterThan(30);
      for (const [index, step] of steps.entries())
        await agrees(await changed([{ at: index + 1, happens }]), passes, `at step ${index + 1}, ${step}`);
    });

  it('with two drones, whatever happens to the ground station or to one of them: all are on one channel within 30 s', async () => {
    const { steps: ofTwo } = await changed([], 2);
    const second = (happens: (end: End) => void) => (world: World) => happens(world.drones[1] ?? world.drone);
    const faults = [
      ...FAULTS.filter(({ passes }) => passes),
      { name: 'the second drone is killed', happens: second((end) => end.kill()) },
      { name: 'the power of the second drone is cut', happens: second((end) => end.cutPower()) },
      { name: 'the second drone is busy', happens: second((end) => end.refuse(NEW, 6000)) },
    ];
    for (const { name, happens } of faults)
      for (const [index, step] of ofTwo.entries())
        await agrees(
          await changed([{ at: index + 1, happens }], 2),
          true,
          `${name} at step ${index + 1}, ${step}`,
        );
  });
  it('two of those that pass, at any two steps: both are on one channel within 30 s after the last', async () => {
    const passing = FAULTS.filter(({ passes }) => passes);
    const fault = fc.record({ which: fc.constantFrom(...passing), at: fc.integer({ min: 1, max: 70 }) });
    await fc.assert(
      fc.asyncProperty(fault, fault, async (one, other) => {
        const faults = [one, other].map(({ which, at }) => ({ at, happens: which.happens }));
        const when = `${one.which.name} at ${one.at}, ${other.which.name} at ${other.at}`;
        await agrees(await changed(faults), true, when);
      }),
      { numRuns: 300 },
    );
  });
});
