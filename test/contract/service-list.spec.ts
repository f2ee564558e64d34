import { once } from 'node:events';
import { expect } from 'chai';
import { named, runServices, type Service } from '../../shared/process/services.ts';

/** A list of services that note what they are told, and what becomes of the whole. */
class Run {
  readonly heard: string[] = [];
  readonly problems: string[] = [];
  readonly #stop = new AbortController();

  service(name: string, more: Partial<Service> = {}): Service {
    return {
      name,
      ...more,
      start: async (signal) => {
        this.heard.push(`start ${name}`);
        await more.start?.(signal);
      },
      stop: async () => {
        this.heard.push(`stop ${name}`);
        await more.stop?.();
      },
    };
  }

  askToStop(): void {
    this.#stop.abort();
  }

  async of(...services: readonly Service[]): Promise<boolean> {
    const onReady = (): void => {
      this.heard.push('ready');
      this.askToStop();
    };
    return runServices(services, this.#stop.signal, onReady, (sentence) => this.problems.push(sentence));
  }
}

const NEVER = async (): Promise<void> => new Promise(() => undefined);

describe('a list of services', () => {
  let run: Run;
  beforeEach(() => {
    run = new Run();
  });

  it('is started in its order, each when the one before has started, and stopped in reverse', async () => {
    const slow = async (): Promise<void> => {
      await new Promise(setImmediate);
      run.heard.push('a runs');
    };
    expect(await run.of(run.service('a', { start: slow }), run.service('b'), run.service('c'))).to.equal(
      true,
    );
    expect(run.heard.join()).to.equal('start a,a runs,start b,start c,ready,stop c,stop b,stop a');
  });

  it('asked to stop in the middle of a start: nothing more is started, what has begun is stopped', async () => {
    const late = run.service('b', {
      start: async () => {
        run.askToStop();
        await new Promise(setImmediate);
        run.heard.push('b listens');
      },
    });
    expect(await run.of(run.service('a'), late, run.service('c'))).to.equal(true);
    expect(run.heard).to.deep.equal(['start a', 'start b', 'b listens', 'stop b', 'stop a']);
  });

  it('a start that listens to the signal may give up with an error: that is no failure', async () => {
    const waiting = run.service('b', {
      start: async (signal) => {
        setImmediate(() => run.askToStop());
        await once(new EventTarget(), 'never', { signal });
      },
    });
    expect(await run.of(run.service('a'), waiting)).to.equal(true);
    expect(run.heard).to.deep.equal(['start a', 'start b', 'stop b', 'stop a']);
    expect(run.problems).to.deep.equal([]);
  });

  it('a start that does not listen to the signal has the time of a stop, no more', async () => {
    const deaf = run.service('b', {
      stopMs: 20,
      start: async () => {
        run.askToStop();
        await NEVER();
      },
    });
    expect(await run.of(run.service('a'), deaf)).to.equal(true);
    expect(run.heard.slice(-2)).to.deep.equal(['stop b', 'stop a']);
  });

  it('asked to stop before the first: nothing is started', async () => {
    run.askToStop();
    expect(await run.of(run.service('a'))).to.equal(true);
    expect(run.heard).to.deep.equal([]);
  });

  for (const [how, more, words] of [
    ['fails', { start: async () => Promise.reject(new Error('no such device')) }, 'no such device'],
    ['hangs', { start: NEVER, startMs: 20 }, 'b did not start within 20 ms'],
  ] as const) {
    it(`a start that ${how} stops what has begun, itself too, and is told`, async () => {
      const failed = await run.of(run.service('a'), run.service('b', more), run.service('c')).then(
        () => null,
        (error: unknown) => error,
      );
      expect(String(failed)).to.include(words);
      expect(run.heard).to.deep.equal(['start a', 'start b', 'stop b', 'stop a']);
    });
  }

  for (const [how, more, words] of [
    ['fails', { stop: async () => Promise.reject(new Error('disk full')) }, 'b did not stop: disk full'],
    ['hangs', { stop: NEVER, stopMs: 20 }, 'b did not stop: not within 20 ms'],
  ] as const) {
    it(`a stop that ${how} is told, and the others stop`, async () => {
      expect(await run.of(run.service('a'), run.service('b', more), run.service('c'))).to.equal(false);
      expect(run.heard.slice(-3)).to.deep.equal(['stop c', 'stop b', 'stop a']);
      expect(run.problems).to.deep.equal([words]);
    });
  }

  it('takes any object with start and stop by a name, as a method of its own', async () => {
    class Door {
      open = false;
      start(): void {
        this.open = true;
      }
      stop(): void {
        this.open = false;
      }
    }
    const door = new Door();
    const seen: boolean[] = [];
    const look = run.service('look', { start: () => seen.push(door.open) });
    expect(await run.of(named('door', door), look, named('nothing', {}))).to.equal(true);
    expect([...seen, door.open]).to.deep.equal([true, false]);
  });
});
