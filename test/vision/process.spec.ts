import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { type DetectorStatus, VISION } from '../../shared/rpc/vision.ts';
import { modelFiles } from '../../shared/vision/model-files.ts';
import { headOf, integers, type ModelParts, modelFile, node } from '../models/small-model.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** A real svc-vision with a model of the test's own, and no svc-video. */
class VisionProcess {
  readonly child: ChildProcess;
  readonly #client: Client<typeof VISION>;
  #status: DetectorStatus | null = null;
  #wake: () => void = () => undefined;

  constructor(dir: string, paths: Paths) {
    const env = { ...process.env, SVC_RUN_DIR: dir, SVC_ETC_DIR: dir, SVC_STATE_DIR: dir };
    const program = join(ROOT, 'residual/vision/main.ts');
    this.child = spawn(process.execPath, [program], { env, stdio: 'ignore' });
    this.#client = clientOf(VISION, {
      path: paths.visionSocket,
      listeners: {
        status: (status) => {
          this.#status = status;
          this.#wake();
        },
      },
    });
    this.#client.start();
  }

  async until(state: DetectorStatus['state']): Promise<DetectorStatus> {
    for (;;) {
      if (this.#status?.state === state) return this.#status;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<readonly unknown[]> {
    this.#client.stop();
    const gone = once(this.child, 'exit');
    this.child.kill(signal);
    return gone;
  }
}

describe('svc-vision with a model that is no good', function () {
  this.timeout(60_000);
  let dir: string;
  let paths: Paths;
  let running: VisionProcess | null = null;

  beforeEach(async () => {
    dir = await tempDir();
    paths = pathsFrom({ SVC_RUN_DIR: dir, SVC_ETC_DIR: dir, SVC_STATE_DIR: dir });
    await mkdir(paths.models);
    await writeFile(paths.config, 'vision:\n  detector: mine\n  memory_mb: 256\n');
  });
  afterEach(async () => {
    await running?.end('SIGKILL');
    running = null;
    await removeDir(dir);
  });

  const start = (): VisionProcess => {
    running = new VisionProcess(dir, paths);
    return running;
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    await running?.end(signal);
    running = null;
  };

  async function put(parts: ModelParts, sha256?: string): Promise<void> {
    const files = modelFiles(paths.models, 'mine');
    const model = modelFile(parts);
    const sum = sha256 ?? createHash('sha256').update(model).digest('hex');
    await writeFile(files.model, model);
    const meta = { id: 'mine', name: 'Mine', head: 'yolov8', classes: ['thing'], input_w: 32, input_h: 32 };
    await writeFile(files.meta, JSON.stringify({ ...meta, sha256: sum }));
  }

  it('waits for pictures where svc-video is away', async () => {
    await put({});
    const status = await start().until('waiting');
    expect(status).to.include({ model_id: 'mine', threads: 1, fps: null, latency_ms: null, frames: 0 });
  });

  it('has failed, with the reason, and stays: the file has changed, the model takes 4 GB', async () => {
    await put({}, '0'.repeat(64));
    expect((await start().until('failed')).last_error).to.match(/has changed/);
    await end('SIGTERM');
    const huge = [
      node('ConstantOfShape', ['size'], 'huge'),
      node('ReduceMax', ['huge'], 'one', [{ name: 'keepdims', type: 2, i: 0 }]),
      node('Add', ['images', 'one'], 'same'),
      ...headOf('same'),
    ];
    await put({ nodes: huge, constants: [integers('size', [1024, 1024, 1024])] });
    const status = await start().until('failed');
    expect(status.last_error).to.match(/^The model/);
    expect(status.memory_mb).to.be.below(512);
    expect(existsSync(modelFiles(paths.models, 'mine').trouble)).to.equal(false);
  });

  it('a model that has ended the process twice is not loaded again, until that is forgotten', async () => {
    await put({});
    for (let time = 0; time < 2; time++) {
      await start().until('waiting');
      await end('SIGKILL');
    }
    expect((await start().until('failed')).last_error).to.match(/twice/);
    await end('SIGTERM');
    expect((await start().until('failed')).last_error, 'still').to.match(/twice/);
    await end('SIGTERM');
    await rm(modelFiles(paths.models, 'mine').trouble);
    await start().until('waiting');
  });

  it('a stop that was asked for is no trouble', async () => {
    await put({});
    for (let time = 0; time < 3; time++) {
      const vision = start();
      await vision.until('waiting');
      running = null;
      expect(await vision.end('SIGTERM')).to.deep.equal([0, null]);
    }
  });
});
