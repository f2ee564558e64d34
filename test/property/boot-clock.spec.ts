import { expect } from 'chai';
import fc from 'fast-check';
import { BootClock } from '../../front/link/vehicle/boot-clock.ts';
import { FakeClock } from '../link/fake-clock.ts';

const ATTITUDE = 30;
const POSITION = 33;
const WRAP = 2 ** 32;

/** How each message writes its boot time, of the ms since the vehicle booted. */
const WRITERS = {
  ms: (up: number) => up % WRAP,
  microseconds: (up: number) => (up * 1000) % WRAP,
  zero: () => 0,
} as const;
type Writer = keyof typeof WRITERS;

describe('the clock of a vehicle', () => {
  /** Two messages, five times a second, for so long. @returns how often a restart was seen */
  async function seen(
    writers: readonly [Writer, Writer],
    lives: readonly { readonly bootedAt: number; readonly seconds: number }[],
    late: () => number = () => 0,
  ): Promise<number> {
    const clock = new FakeClock();
    const boot = new BootClock(clock);
    let restarts = 0;
    for (const { bootedAt, seconds } of lives) {
      for (let at = 0; at < seconds * 5; at++) {
        const up = bootedAt + at * 200;
        for (const [index, id] of [ATTITUDE, POSITION].entries())
          if (boot.hear(id, WRITERS[writers[index] ?? 'ms'](Math.max(0, up - late()))) === 'restarted')
            restarts++;
        await clock.advance(200);
      }
    }
    return restarts;
  }
  const writer = fc.constantFrom<Writer>('ms', 'microseconds', 'zero');

  it('one life has no restart, however its messages write it, late or over the end of 32 bits', async () => {
    await fc.assert(
      fc.asyncProperty(
        writer,
        writer,
        fc.oneof(fc.nat(600_000), fc.integer({ min: WRAP - 20_000, max: WRAP })),
        fc.array(fc.nat(900), { minLength: 7, maxLength: 7 }),
        async (a, b, bootedAt, delays) => {
          let turn = 0;
          const late = (): number => delays[turn++ % delays.length] ?? 0;
          expect(await seen([a, b], [{ bootedAt, seconds: 40 }], late)).to.equal(0);
        },
      ),
      {
        numRuns: 200,
        examples: [['microseconds', 'microseconds', 4_294_947_296, [0, 0, 896, 895, 0, 0, 0]]],
      },
    );
  });

  it('a restart is seen once, as soon as two messages agree on it; one message is enough, if its clock runs on', async () => {
    for (const writers of [
      ['ms', 'ms'],
      ['ms', 'microseconds'],
      ['ms', 'zero'],
      ['zero', 'ms'],
    ] as const)
      expect(
        await seen(writers, [
          { bootedAt: 60_000, seconds: 20 },
          { bootedAt: 300, seconds: 20 },
        ]),
        writers.join(),
      ).to.equal(1);
  });

  it('at most one restart is believed in 10 s, whatever the messages say', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(ATTITUDE, POSITION), fc.nat(0xffffffff)), {
          minLength: 200,
          maxLength: 400,
        }),
        async (messages) => {
          const clock = new FakeClock();
          const boot = new BootClock(clock);
          let restarts = 0;
          for (const [id, ms] of messages) {
            if (boot.hear(id, ms) === 'restarted') restarts++;
            await clock.advance(100);
          }
          expect(restarts).to.be.at.most(1 + messages.length / 100);
        },
      ),
      { numRuns: 30 },
    );
  });
});
