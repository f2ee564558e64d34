import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { SupportBundle } from '../../front/control/node/support-bundle.ts';
import { ApiError } from '../../shared/errors.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { gone } from '../support/events.ts';

/** With a program in place of the collector. */
function bundle(program: string, wholeMs?: number): SupportBundle {
  return new SupportBundle({
    command: [process.execPath, '-e', program],
    env: {},
    ...(wholeMs === undefined ? {} : { wholeMs }),
    log: createLogger('test', 'error'),
  });
}

async function code(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

const ENDLESS = 'process.stdout.write(String(process.pid)); setInterval(() => undefined, 1000)';

describe('the maker of support bundles', () => {
  it('gives what its program writes, once it has begun', async () => {
    const maker = bundle('process.stdout.write("archive")');
    expect(await text(await maker.open())).to.equal('archive');
    expect(await text(await maker.open())).to.equal('archive');
  });

  it('makes one at a time, and ends its program when the reader goes', async () => {
    const maker = bundle(ENDLESS);
    const first = maker.open();
    expect(await code(maker.open())).to.equal('E_BUSY');
    const archive = await first;
    const pid = Number(archive.read());
    expect(await code(maker.open())).to.equal('E_BUSY');
    archive.destroy();
    await once(archive, 'close');
    await gone(pid);
    const again = await maker.open();
    again.destroy();
    await gone(Number(again.read() ?? pid));
  });

  it('says why there is none, and breaks off what is not whole', async () => {
    const failing = bundle('console.error("no room"); process.exit(3)');
    const said = await failing.open().catch((error: unknown) => error);
    expect(said).to.include({ code: 'E_UPSTREAM' });
    expect(String(said)).to.include('ended with 3').and.include('no room');
    const torn = await bundle('process.stdout.write("half", () => process.exit(3))').open();
    expect(await code(buffer(torn))).to.equal('E_UPSTREAM');
  });

  it('ends what takes too long, a reader that does not read as well', async () => {
    const archive = await bundle(ENDLESS, 2000).open();
    const pid = Number(archive.read());
    expect(await code(buffer(archive))).to.equal('E_TIMEOUT');
    await gone(pid);
    const full = 'const all = Buffer.alloc(4e6, String(process.pid)); process.stdout.write(all)';
    const unread = await bundle(full, 2000).open();
    const [error] = (await once(unread, 'error')) as [unknown];
    expect(error).to.include({ code: 'E_TIMEOUT' });
  });
});
