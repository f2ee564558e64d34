import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { POSES } from '../../shared/flight/calibration.ts';
import { calibrationState } from '../../shared/schemas/calibration.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { KEY } from '../support/edge.ts';
import { known } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc, svcEnv } from '../support/svc.ts';

type Body = Readonly<Record<string, unknown>>;
const PATH = '/api/calibration';

/** `svc` with a stdin, and what it has said so far. */
class Running {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  #wake: (() => void)[] = [];
  readonly #ended: Promise<unknown>;

  constructor(node: TestNode, ...args: readonly string[]) {
    this.child = spawn(process.execPath, [join(ROOT, 'bin/svc.js'), ...args], { env: svcEnv(node.paths) });
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      for (const wake of this.#wake.splice(0)) wake();
    });
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
      for (const wake of this.#wake.splice(0)) wake();
    });
    this.#ended = once(this.child, 'close');
  }

  async says(text: string): Promise<void> {
    while (!this.stdout.includes(text) && !this.stderr.includes(text))
      await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async ended(): Promise<number | null> {
    const [code] = (await this.#ended) as [number | null];
    return code;
  }
}

describe('calibration over HTTP, and svc calibrate', function () {
  this.timeout(60_000);
  let node: TestNode;
  const fits = compileValidator(createAjv(), calibrationState);

  const send = async (method: string, body?: unknown): Promise<{ status: number; body: Body }> => {
    const answer = await fetch(`${node.url}${PATH}`, {
      method,
      headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed = (await answer.json()) as Body;
    if (answer.status === 200) expect(fits(parsed)).to.equal(null);
    return { status: answer.status, body: parsed };
  };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await known(node);
    const faster = await svc(node.paths, 'params', 'set', 'SIM_SPEEDUP', '10');
    expect(faster.code, faster.stderr).to.equal(0);
  });

  after(async () => node.stop());

  it('none yet; what cannot be calibrated; nothing to cancel', async () => {
    const none = await send('GET');
    expect(none.body).to.deep.include({ running: false, sensor: null, result: null, steps: [], poses: [] });
    expect((await send('DELETE')).body).to.include({ running: false, result: null });
    for (const [body, status, code] of [
      [{ sensor: 'barometre' }, 422, 'E_INVALID_VALUE'],
      [{}, 422, 'E_INVALID_VALUE'],
      [{ sensor: 'accelerometer', confirm: 'up' }, 422, 'E_INVALID_VALUE'],
      [{ sensor: 'accelerometer', confirm: 'left' }, 409, 'E_CALIBRATION'],
      [{ sensor: 'gyro', confirm: 'left' }, 409, 'E_CALIBRATION'],
    ] as const) {
      const answer = await send('POST', body);
      expect([answer.status, answer.body['code']], JSON.stringify(body)).to.deep.equal([status, code]);
    }
    expect((await svc(node.paths, 'calibrate', '--status')).stdout).to.include('No calibration');
  });

  it('the accelerometer, pose by pose, followed as events', async () => {
    expect((await send('POST', { sensor: 'accelerometer' })).body).to.include({ running: true });
    const events = await fetch(`${node.url}${PATH}`, {
      headers: { 'x-svc-key': KEY, accept: 'text/event-stream' },
    });
    const told = events.text();
    expect((await send('POST', { sensor: 'gyro' })).body).to.include({ code: 'E_BUSY' });
    const confirmed = new Set<unknown>();
    while (confirmed.size < POSES.length) {
      const { body } = await send('GET');
      const [pose] = body['poses'] as readonly unknown[];
      if (body['confirm'] !== true || confirmed.has(pose)) continue;
      expect((await send('POST', { sensor: 'accelerometer', confirm: pose })).status).to.equal(200);
      confirmed.add(pose);
    }
    expect([...confirmed]).to.deep.equal(POSES);
    const text = await told;
    expect(text).to.match(/event: progress\ndata: \{"done":\d+,"total":100,"text":"Place vehicle [^"]+"\}/);
    const result = JSON.parse(/event: result\ndata: (.*)\n/.exec(text)?.[1] ?? '{}') as Body;
    expect(result).to.have.property('status', 200);
    expect(result['body']).to.include({ result: 'done', reboot_required: true, percent: 100 });
  });

  it('svc calibrate: a sensor that needs nobody, its status, a failure', async () => {
    const gyro = await svc(node.paths, 'calibrate', 'gyro');
    expect([gyro.code, gyro.stdout.includes('done')], gyro.stderr).to.deep.equal([0, true]);
    expect((await svc(node.paths, 'calibrate', '--status')).stdout).to.match(/^gyro: done/);
    const level = await svc(node.paths, 'calibrate', 'level', '--json');
    expect(JSON.parse(level.stdout)).to.include({ sensor: 'level', result: 'done' });
    expect((await svc(node.paths, 'calibrate')).code).to.equal(2);
    expect((await svc(node.paths, 'calibrate', 'radar')).code).to.equal(2);
  });

  it('svc calibrate accelerometer asks for Enter at each pose, and gives up where nobody can answer', async () => {
    const run = new Running(node, 'calibrate', 'accelerometer');
    for (const words of ['level', 'left side', 'right side', 'nose down', 'nose up', 'its back']) {
      await run.says(`${words}, hold it still, and press Enter.`);
      run.child.stdin.write('\n');
    }
    expect(await run.ended(), run.stderr).to.equal(0);
    expect(run.stdout).to.include('Place vehicle level and press any key.').and.include('done');
    const alone = new Running(node, 'calibrate', 'accelerometer');
    alone.child.stdin.end();
    expect(await alone.ended()).to.equal(1);
    expect(alone.stdout).to.include('cancelled');
  });

  it('Ctrl-C cancels the calibration in the vehicle', async () => {
    await svc(node.paths, 'params', 'set', 'SIM_SPEEDUP', '1');
    const run = new Running(node, 'calibrate', 'compass');
    await run.says('Turn the vehicle');
    expect((await send('GET')).body).to.include({ running: true, sensor: 'compass', step: 'rotate' });
    run.child.kill('SIGINT');
    expect(await run.ended()).to.equal(1);
    expect(run.stdout).to.include('cancelled');
    expect((await send('GET')).body).to.include({ running: false, result: 'cancelled' });
    // Now the vehicle wants to be rebooted first, and says so.
    const arm = await svc(node.paths, 'cmd', 'arm');
    expect([arm.code, arm.stdout]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && said.includes('requires reboot'),
    );
  });
});
