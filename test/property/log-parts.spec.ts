import { expect } from 'chai';
import fc from 'fast-check';
import { rangeOf } from '../../front/control/native/flight-logs.ts';
import type { Encoder } from '../../front/link/encode.ts';
import { LogFetch } from '../../front/link/logs/log-fetch.ts';
import { LogWindow } from '../../front/link/logs/log-window.ts';
import type { Guard } from '../../front/link/vehicle/guard.ts';
import type { Vehicle } from '../../front/link/vehicle/vehicle.ts';
import type { ApiError } from '../../shared/errors.ts';
import { FakeClock } from '../link/fake-clock.ts';

describe('parts of a log', () => {
  it('a window takes parts of any length, in any order, twice and from elsewhere, and asks for exactly what is missing', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 9000 }),
        fc.array(fc.tuple(fc.integer({ min: -100, max: 9100 }), fc.integer({ min: 0, max: 90 })), {
          maxLength: 300,
        }),
        fc.integer({ min: 1, max: 90 }),
        (start, length, order, block) => {
          const byteAt = (offset: number): number => (offset * 31) & 0xff;
          const send = (window: LogWindow, offset: number, size: number): boolean =>
            window.add({
              offset,
              data: Buffer.from(Array.from({ length: size }, (_, i) => byteAt(offset + i))),
            });
          const window = new LogWindow(start, start + length);
          for (const [offset, size] of order) send(window, Math.max(0, start + offset), size);
          for (let turn = 0; turn <= length; turn++) {
            const gap = window.gap();
            if (gap === null) break;
            expect(gap.start).to.be.within(start, start + length - 1);
            expect(gap.end).to.be.within(gap.start + 1, start + length);
            expect(send(window, gap.start, 1), 'its first byte was missing').to.equal(true);
            for (let at = gap.start; at < gap.end; at += block) send(window, at, block);
          }
          expect(window.complete).to.equal(true);
          expect(
            window.bytes.equals(Buffer.from(Array.from({ length }, (_, i) => byteAt(start + i)))),
          ).to.equal(true);
        },
      ),
    );
  });

  const VEHICLE = { target: { system: 1, component: 1 } };
  /** Reads a log of a vehicle that answers each request so. @returns what was kept, how often it was asked, and the error */
  async function read(
    size: number,
    answer: (start: number, end: number, tell: (offset: number, length: number) => void) => void,
  ) {
    const clock = new FakeClock();
    const kept: Buffer[] = [];
    let asked = 0;
    let ended: ApiError | null | undefined;
    const fetch = new LogFetch({
      clock,
      vehicle: VEHICLE as Vehicle,
      guard: { mustEnd: () => false } as unknown as Guard,
      encoder: {
        logRequestData: (_target: unknown, _id: number, start: number, length: number) => [
          start,
          start + length,
        ],
        logRequestEnd: () => null,
      } as unknown as Encoder,
      ask: (request: unknown) => {
        if (request === null) return;
        asked++;
        const [start, end] = request as [number, number];
        clock.after(2, () =>
          answer(start, end, (offset, length) =>
            fetch.onData({ id: 7, offset, data: Buffer.alloc(length, 1) }),
          ),
        );
      },
      id: 7,
      size,
      sink: {
        get length() {
          return kept.reduce((sum, { length }) => sum + length, 0);
        },
        append: async (bytes) => {
          kept.push(Buffer.from(bytes));
          return Promise.resolve();
        },
      },
      onEnd: (error) => {
        ended = error;
      },
    });
    fetch.start();
    const SECONDS = 60;
    for (let at = 0; at < SECONDS * 100; at++) {
      await clock.advance(10);
      if (ended !== undefined) break;
    }
    fetch.stop();
    return { bytes: kept.reduce((sum, { length }) => sum + length, 0), asked, ended, seconds: SECONDS };
  }

  it('blocks of fewer than 90 bytes are what they are, and cost no more requests', async () => {
    const { bytes, asked, ended } = await read(20_000, (start, end, tell) => {
      for (let at = start; at < end; at += 60) tell(at, Math.min(60, end - at));
    });
    expect([bytes, ended]).to.deep.equal([20_000, null]);
    expect(asked).to.be.below(30);
  });

  it('a log that is shorter than listed is kept as far as it goes', async () => {
    const { bytes, ended } = await read(20_000, (start, end, tell) => {
      for (let at = start; at < Math.min(end, 5000); at += 90) tell(at, Math.min(90, 5000 - at));
      if (end > 5000) tell(Math.max(start, 5000), 0);
    });
    expect([bytes, ended]).to.deep.equal([5000, null]);
  });

  it('whatever a vehicle answers, it is asked at most 25 times a second', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: -1, max: 2 }), fc.integer({ min: 0, max: 90 })), {
          maxLength: 6,
        }),
        async (parts) => {
          const { asked, seconds } = await read(3000, (start, end, tell) => {
            // From the beginning, the end and behind it of what was asked for, in any length, or nothing.
            for (const [place, length] of parts)
              tell(Math.max(0, place < 2 ? start + place * (end - start - length) : end + length), length);
          });
          expect(asked).to.be.at.most(seconds * 25 + 2);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('a Range header: one range is served, nonsense is ignored, what lies beyond is refused', () => {
    const of = (range: string | undefined): unknown => {
      try {
        const { start, end, ranged } = rangeOf(range === undefined ? {} : { range }, 1000);
        return ranged ? [start, end] : 'whole';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    for (const [range, wanted] of [
      [undefined, 'whole'],
      ['bytes=0-', [0, 1000]],
      ['bytes=10-19', [10, 20]],
      ['bytes=990-5000', [990, 1000]],
      ['bytes=-100', [900, 1000]],
      ['bytes=-5000', [0, 1000]],
      [`bytes=0-${'9'.repeat(30)}`, [0, 1000]],
      [`bytes=${'9'.repeat(30)}-`, 'E_RANGE_NOT_SATISFIABLE'],
      ['bytes=-0', 'E_RANGE_NOT_SATISFIABLE'],
      ['bytes=1000-', 'E_RANGE_NOT_SATISFIABLE'],
      ['bytes=20-10', 'whole'],
      ['bytes=0-1,5-6', 'whole'],
      ['items=0-1', 'whole'],
      ['bytes=-', 'whole'],
    ] as const)
      expect(of(range), range ?? 'none').to.deep.equal(wanted);
    expect(rangeOf({ range: 'bytes=1-2', 'if-range': '"x"' }, 1000)).to.include({ ranged: false });
  });
});
