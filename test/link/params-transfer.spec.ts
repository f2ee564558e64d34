import { expect } from 'chai';
import { ParamFile } from '../../bin/sim/params/param-file.ts';
import { Params, type ParamsOptions } from '../../front/link/params/params.ts';
import { FakeClock, settle } from './fake-clock.ts';

/** Longer than a list that nobody answers. */
const LONG_MS = 30_000;

const refuses = (): never => {
  throw new Error('no');
};
const tells = (_path: string, _priority: number, onEnd: (bytes: Buffer | null, refused: boolean) => void) => {
  const file = new ParamFile([{ name: 'A', type: 9, value: 1, initial: 1 }], {
    withDefaults: true,
    start: 0,
    count: 0,
  });
  onEnd(file.read(0, 200) ?? null, false);
  return () => undefined;
};

describe('a download of parameters whose transfer throws', () => {
  for (const [place, ftp, kept, encoding] of [
    ['at its start', refuses, true, () => 'bytes'],
    ['at its start, without a file of before', refuses, false, () => 'bytes'],
    ['while its file is read', tells, false, refuses],
  ] as const)
    it(`${place}: goes on with the list, and ends`, async () => {
      const clock = new FakeClock();
      let lists = 0;
      const options = {
        clock,
        vehicle: {
          alive: true,
          firmware: 'ardupilot',
          capabilities: 32,
          version: { uid: 'u' },
          target: { system: 1, component: 1 },
        },
        encoder: { paramRequestList: () => Buffer.from([++lists]) },
        send: () => undefined,
        ask: () => undefined,
        encoding,
        identify: () => undefined,
        onKnown: () => undefined,
        store: kept ? { read: async () => Promise.resolve(null), write: () => undefined } : null,
        ftp: { read: ftp },
        metadata: {},
        metadataStore: null,
      };
      const params = new Params(options as unknown as ParamsOptions);
      params.download(false);
      try {
        params.onVersion();
      } catch (error) {
        expect((error as Error).message).to.equal('no'); // whoever calls writes it down
      }
      await settle();
      expect(lists).to.equal(1);
      expect(params.progress.priming).to.equal(true);
      for (let at = 0; at < LONG_MS; at += 250) {
        await clock.advance(250);
        if (params.progress.priming) params.tick();
      }
      expect(params.progress).to.include({ priming: false, timed_out: true });
    });
});
