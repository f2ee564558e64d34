import { open, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Reporter } from '../../residual/app/reports/reporter.ts';
import { modelCheck } from '../../residual/app/vision/model-check.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ModelMetadata } from '../../shared/schemas/vision.ts';
import { askAgain } from '../support/ask-again.ts';
import { ownChild } from '../support/own-children.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface Child {
  readonly network: string;
  readonly oom: number;
}

/** What such a process looks like from outside; null before it runs. */
async function childOf(file: string): Promise<Child | null> {
  const pid = await ownChild(file);
  if (pid === null) return null;
  return {
    network: await readlink(`/proc/${pid}/ns/net`),
    oom: Number(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')),
  };
}

describe('who reads what strangers have made', function () {
  this.timeout(30_000);
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  /** Of the process, at work, and how that work ended. */
  async function seen(file: string, work: (gone: AbortSignal) => Promise<unknown>): Promise<Child> {
    const stop = new AbortController();
    const end = work(stop.signal).then(
      () => 'done',
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    );
    const child = await askAgain(
      file,
      async () => childOf(file),
      (each) => each !== null && each.oom > 0,
    );
    stop.abort();
    expect(await end).to.equal('E_DRAINING');
    if (child === null) throw new Error('it is awaited');
    return child;
  }

  it('a log for its report: has no network, and the kernel takes it before what flies', async () => {
    const log = join(folder, 'long.bin');
    await writeFile(log, Buffer.alloc(256 * 1024 * 1024, 0xa3));
    const child = await seen('report-process', async (gone) =>
      new Reporter().report(await open(log), 'onboard', { gone }),
    );
    expect(child.network).to.not.equal(await readlink('/proc/self/ns/net'));
    expect(child.oom).to.be.at.least(500);
  });

  it('a model to check it: has no network, and the kernel takes it before what flies', async () => {
    const program = join(folder, 'check-forever.mjs');
    const stepBack = join(import.meta.dirname, '../../residual/vision/step-back.ts');
    await writeFile(
      program,
      `await (await import(${JSON.stringify(stepBack)})).stepBack(console.error); setInterval(() => undefined, 1000);\n`,
    );
    const metadata: ModelMetadata = {
      id: 'test',
      head: 'yolov8',
      classes: ['thing'],
      input_w: 32,
      input_h: 32,
    };
    const child = await seen('check-forever', async (gone) =>
      modelCheck(program, 100)(join(folder, 'no-model'), metadata, gone),
    );
    expect(child.network).to.not.equal(await readlink('/proc/self/ns/net'));
    expect(child.oom).to.be.at.least(500);
  });
});
