import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CheckModel, modelCheck } from '../../residual/app/vision/model-check.ts';
import { ModelStore } from '../../residual/app/vision/model-store.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ModelMeta, ModelMetadata } from '../../shared/schemas/vision.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const METADATA: ModelMetadata = { id: 'mine', head: 'yolov8', input_w: 320, input_h: 320 };
const FOUND = {
  ok: true,
  classes: 1,
  memory_mb: 10,
  inference_ms: 3,
  input: { name: 'images', width: 320, height: 320, layout: 'nchw', type: 'float32' },
  outputs: [{ name: 'output0', shape: [1, 5, 1] }],
} as const;

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? `${error.code} ${error.message}` : String(error)),
  );
}

describe('the store of models', () => {
  let folder: string;
  let warnings: string[];
  beforeEach(async () => {
    folder = join(await tempDir(), 'models');
    warnings = [];
  });
  afterEach(async () => removeDir(join(folder, '..')));

  const pass: CheckModel = async () => Promise.resolve(structuredClone(FOUND) as never);
  const open = async (maxBytes = 1000, check = pass): Promise<ModelStore> => {
    const store = new ModelStore({
      folder,
      maxBytes,
      check,
      wall: () => 0,
      warn: (sentence) => warnings.push(sentence),
    });
    await store.start();
    return store;
  };
  const put = async (
    store: ModelStore,
    bytes = 100,
    id = 'mine',
    sha256 = 'a'.repeat(64),
  ): Promise<ModelMeta> =>
    store.receive(async ({ path, maxBytes, tooLarge }) => {
      if (bytes > maxBytes) throw tooLarge();
      await writeFile(path, Buffer.alloc(bytes));
      return store.add(path, sha256, { ...METADATA, id }, () => undefined);
    });
  const stored = async (store: ModelStore): Promise<readonly string[]> =>
    (await store.list()).filter(({ builtin }) => builtin !== true).map(({ id }) => id);

  it('a model is there with what its check has found, and takes its space', async () => {
    const store = await open();
    expect(await put(store)).to.deep.include({
      id: 'mine',
      name: 'mine',
      classes: [],
      runtime: 'onnx',
      board_match: 'generic',
      size_bytes: 100,
      input: FOUND.input,
      inference_ms: 3,
    });
    expect(await store.space()).to.deep.equal({ used: 100, max: 1000 });
    expect((await readdir(folder)).toSorted()).to.deep.equal(['.incoming', 'mine.json', 'mine.onnx']);
    expect(await readdir(join(folder, '.incoming'))).to.deep.equal([]);
    expect(await stored(await open())).to.deep.equal(['mine']);
  });

  it('the same file again is the one that is there, another file of that name is refused', async () => {
    const store = await open();
    const first = await put(store);
    expect(await put(store)).to.deep.equal(first);
    expect(await codeOf(put(store, 100, 'mine', 'b'.repeat(64)))).to.include('E_MODEL_EXISTS');
    expect(await codeOf(put(store, 100, 'marker'))).to.include('E_MODEL_EXISTS');
  });

  it('one that is refused leaves nothing', async () => {
    const store = await open(1000, async () => {
      await Promise.resolve();
      throw new ApiError('E_MODEL', 'no');
    });
    expect(await codeOf(put(store))).to.equal('E_MODEL no');
    expect(await stored(store)).to.deep.equal([]);
    expect(await readdir(join(folder, '.incoming'))).to.deep.equal([]);
    expect(await readdir(folder)).to.deep.equal(['.incoming']);
  });

  it('two at once: the second is told to wait', async () => {
    const store = await open();
    const first = put(store);
    expect(await codeOf(put(store, 10, 'other'))).to.include('E_BUSY');
    expect((await first).id).to.equal('mine');
    expect((await put(store, 10, 'other')).id).to.equal('other');
  });

  it('the space for models is bounded', async () => {
    const store = await open(150);
    await put(store);
    expect(await codeOf(put(store, 100, 'other'))).to.include('E_DISK_FULL');
    expect((await put(store, 50, 'other')).size_bytes).to.equal(50);
    expect(await codeOf(put(store, 1, 'third'))).to.include('E_DISK_FULL');
    await store.remove('other', async () => Promise.resolve(false));
    expect((await put(store, 1, 'third')).id).to.equal('third');
  });

  it('the detector, a model of the program, and what is not there are not deleted', async () => {
    const store = await open();
    await put(store);
    const chosen = async (): Promise<boolean> => Promise.resolve(true);
    expect(await codeOf(store.remove('mine', chosen))).to.include('E_MODEL_IN_USE');
    expect(await codeOf(store.remove('marker', chosen))).to.include('comes with the program');
    expect(await codeOf(store.remove('nothing', chosen))).to.include('E_NOT_FOUND');
    expect(await stored(store)).to.deep.equal(['mine']);
  });

  it('what a process that was killed has left is gone at the next start', async () => {
    await put(await open());
    await mkdir(join(folder, '.incoming'), { recursive: true });
    await writeFile(join(folder, '.incoming', 'half.onnx'), 'half');
    await writeFile(join(folder, 'placed.onnx'), 'its metadata was not written any more');
    await writeFile(join(folder, '.mine.json.999999999-0123456789ab.tmp'), '{');
    expect(await stored(await open())).to.deep.equal(['mine']);
    expect((await readdir(folder)).toSorted()).to.deep.equal(['mine.json', 'mine.onnx']);
    expect(warnings).to.deep.equal([]);
  });

  it('one whose metadata cannot be read is not offered, with a warning', async () => {
    const store = await open();
    await put(store);
    await writeFile(join(folder, 'mine.json'), '{');
    expect(await stored(store)).to.deep.equal([]);
    expect(warnings[0]).to.include('mine.json');
  });
});

describe('the check of a model', function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  const PROGRAMS: readonly [string, string, string][] = [
    ['is killed', "process.kill(process.pid, 'SIGKILL')", 'stopped the program that checks it'],
    ['says nothing', '', 'stopped the program that checks it'],
    ['is ended while it tells', `process.stdout.write('{"ok": tr')`, 'stopped the program that checks it'],
    ['fails', 'process.exit(3)', 'stopped the program that checks it'],
    [
      'refuses',
      `console.log('noise'); console.log('{"ok": false, "reason": "It is too wide."}')`,
      'It is too wide.',
    ],
  ];
  for (const [what, text, wanted] of PROGRAMS) {
    it(`whose program ${what} is a refusal`, async () => {
      const program = join(folder, 'check.mjs');
      await writeFile(program, text);
      const signal = new AbortController().signal;
      expect(await codeOf(modelCheck(program, 100)('file', METADATA, signal)))
        .to.include('E_MODEL This model cannot be used: ')
        .and.to.include(wanted);
    });
  }

  it('is given file, metadata and memory, and ends with the node', async () => {
    const program = join(folder, 'check.mjs');
    await writeFile(program, 'console.log(JSON.stringify({ok: true, inference_ms: process.argv.slice(2)}))');
    const told = await modelCheck(program, 100)('file', METADATA, new AbortController().signal);
    expect(told).to.deep.equal({ ok: true, inference_ms: ['file', JSON.stringify(METADATA), '100'] });
    await writeFile(program, 'setInterval(() => undefined, 1000)');
    const stop = new AbortController();
    const waiting = codeOf(modelCheck(program, 100)('file', METADATA, stop.signal));
    stop.abort();
    expect(await waiting).to.include('E_DRAINING');
  });
});
