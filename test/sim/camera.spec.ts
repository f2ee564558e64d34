import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { Listeners } from '../../bin/sim/camera/listeners.ts';
import { sizeOf } from '../../residual/video/engine/picture-size.ts';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { parameterSets } from '../../shared/media/h264.ts';
import { goodbye, isControl, keyRequest, readControl, report } from '../../shared/media/rtcp.ts';
import { programOf } from '../support/program.ts';

const OWN_SSRC = 0xf00d;

interface Unit {
  readonly data: Buffer;
  readonly key: boolean;
  /** Monotonic ms. */
  readonly at: number;
}

/** The program, as the supervisor starts it. */
class CameraProcess implements AsyncDisposable {
  readonly port: number;
  readonly child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  static async start(...args: string[]): Promise<CameraProcess> {
    const child = spawn(process.execPath, [programOf('bin/sim/camera/main'), ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, SVC_LOG_LEVEL: 'error' },
    });
    child.send({ type: 'init', secret: '', nodeStartedAt: 0 });
    const [ready] = await once(child, 'message');
    return new CameraProcess(child, ready.info.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await gone;
  }
}

/** Somebody who listens to it. */
class Watcher implements AsyncDisposable {
  readonly units: Unit[] = [];
  /** Reports of the camera. */
  reports = 0;
  readonly #socket: Socket;
  readonly #port: number;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    const rtp = new RtpDepacketizer((data, key) => this.units.push({ data, key, at: performance.now() }));
    socket.on('message', (datagram) => {
      if (isControl(datagram)) this.reports++;
      else rtp.push(datagram, performance.now() * 1000);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  static async open({ port }: CameraProcess): Promise<Watcher> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 2 * 1024 * 1024 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new Watcher(socket, port);
  }

  say(packet: Buffer): void {
    this.#socket.send(packet, this.#port, '127.0.0.1');
  }

  async until(enough: (units: readonly Unit[]) => boolean): Promise<readonly Unit[]> {
    while (!enough(this.units)) await this.#more();
    return this.units;
  }

  /** Resolves when nothing has come for so long. */
  async silence(ms: number): Promise<void> {
    for (;;) {
      const late = Symbol('late');
      const timer = Promise.withResolvers<typeof late>();
      const timeout = setTimeout(() => timer.resolve(late), ms);
      const first = await Promise.race([this.#more(), timer.promise]);
      clearTimeout(timeout);
      if (first === late) return;
    }
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.close(() => resolve());
    });
  }
}

describe("who listens to the simulator's camera", () => {
  const one = { address: '127.0.0.1', port: 1 };
  const other = { address: '127.0.0.1', port: 2 };
  const here = { ssrc: 1, bye: false, key: false };

  it('is who has said so within 5 s, and has not left', () => {
    const listeners = new Listeners();
    listeners.hear(here, one, 0);
    listeners.hear(here, other, 4000);
    expect(listeners.at(4900).map(({ port }) => port)).to.deep.equal([1, 2]);
    expect(listeners.at(5100).map(({ port }) => port)).to.deep.equal([2]);
    listeners.hear({ ...here, bye: true }, other, 5200);
    expect(listeners.at(5200)).to.deep.equal([]);
  });

  it('gets a key frame when he comes and when he asks; there are no more than eight', () => {
    const listeners = new Listeners();
    expect(listeners.keyWanted).to.equal(false);
    listeners.hear(here, one, 0);
    expect(listeners.keyWanted).to.equal(true);
    listeners.onKey();
    listeners.hear(here, one, 10);
    expect(listeners.keyWanted).to.equal(false);
    listeners.hear({ ...here, key: true }, one, 20);
    expect(listeners.keyWanted).to.equal(true);
    for (let port = 0; port < 100; port++) listeners.hear(here, { ...one, port }, 30);
    expect(listeners.at(30)).to.have.length(8);
  });

  it('says it by RTCP; what is none, or not whole, is nothing', () => {
    expect(readControl(report(OWN_SSRC))).to.deep.equal({ ssrc: OWN_SSRC, bye: false, key: false });
    expect(readControl(goodbye(OWN_SSRC))).to.deep.equal({ ssrc: OWN_SSRC, bye: true, key: false });
    expect(readControl(keyRequest(OWN_SSRC, 7))).to.deep.equal({ ssrc: OWN_SSRC, bye: false, key: true });
    const whole = goodbye(OWN_SSRC);
    for (let length = 0; length < whole.length; length++) {
      const said = readControl(whole.subarray(0, length));
      expect(said?.bye ?? false, `${length} bytes`).to.equal(false);
    }
    for (const wrong of [
      '',
      '80',
      '8060000000000000',
      '81cb000100000001',
      '80c9ffff00000001',
      'ffffffffffffffff',
    ])
      expect(readControl(Buffer.from(wrong, 'hex')), wrong).to.equal(null);
  });
});

describe("the simulator's camera", function () {
  this.timeout(120_000);
  const small = ['--width', '320', '--height', '180', '--fps', '20', '--kbps', '500'];

  it('sends nothing before somebody says that he listens, and nothing after he has left', async () => {
    await using camera = await CameraProcess.start(...small);
    await using watcher = await Watcher.open(camera);
    for (const noise of ['', '00', '80e0', '80c9ffff00000001']) watcher.say(Buffer.from(noise, 'hex'));
    await watcher.silence(1000);
    expect(watcher.units).to.have.length(0);
    watcher.say(report(OWN_SSRC));
    // It paints for a second before it has a picture, and is there all the same.
    watcher.say(report(OWN_SSRC));
    const [first] = await watcher.until(({ length }) => length >= 10);
    expect(watcher.reports).to.be.least(1);
    expect(first?.key).to.equal(true);
    expect(parameterSets(first?.data ?? Buffer.alloc(0))).not.to.equal(null);
    expect(sizeOf('h264', first?.data ?? Buffer.alloc(0))).to.deep.equal({ width: 320, height: 180 });
    watcher.say(goodbye(OWN_SSRC));
    await watcher.silence(500);
    const count = watcher.units.length;
    await watcher.silence(2000);
    expect(watcher.units).to.have.length(count);
    // And again, from a key frame on.
    watcher.say(report(OWN_SSRC));
    await watcher.until(({ length }) => length > count);
    expect(watcher.units[count]?.key).to.equal(true);
  });

  it('ends by itself what nobody has asked for within 5 s', async () => {
    await using camera = await CameraProcess.start(...small);
    await using watcher = await Watcher.open(camera);
    let said = 0;
    const say = (): void => {
      said = performance.now();
      watcher.say(report(OWN_SSRC));
    };
    say();
    // Until the landscape is painted, which on a slow machine takes longer than the camera waits for the next report.
    const tell = setInterval(say, 1000);
    await watcher.until(({ length }) => length > 0);
    clearInterval(tell);
    await watcher.silence(2000);
    const last = watcher.units.at(-1)?.at ?? 0;
    expect(last - said).to.be.within(3000, 7000);
  });

  it('has a key frame every second, and one at once for who asks or comes', async () => {
    await using camera = await CameraProcess.start(...small);
    await using watcher = await Watcher.open(camera);
    watcher.say(report(OWN_SSRC));
    const tell = setInterval(() => watcher.say(report(OWN_SSRC)), 1000);
    try {
      const keys = (): readonly number[] => watcher.units.filter(({ key }) => key).map(({ at }) => at);
      await watcher.until(() => keys().length >= 5);
      const gaps = keys()
        .slice(1)
        .map((at, index) => at - (keys()[index] ?? 0));
      expect(Math.max(...gaps)).to.be.below(2000);
      // Just after one, the next would come in a second.
      const before = keys().length;
      await watcher.until((units) => units.length - units.findLastIndex(({ key }) => key) > 6);
      const asked = performance.now();
      watcher.say(keyRequest(OWN_SSRC, 0));
      await watcher.until(() => keys().length > before);
      expect((keys().at(-1) ?? 0) - asked).to.be.below(500);
      await using second = await Watcher.open(camera);
      second.say(report(OWN_SSRC + 1));
      const came = performance.now();
      await second.until((units) => units.some(({ key }) => key));
      expect(performance.now() - came).to.be.below(500);
      const count = watcher.units.length;
      await watcher.until(({ length }) => length > count);
    } finally {
      clearInterval(tell);
    }
  });

  it('sends a smaller picture where the processor cannot do more, and goes on', async () => {
    await using camera = await CameraProcess.start('--width', '3840', '--height', '2160', '--fps', '120');
    await using watcher = await Watcher.open(camera);
    watcher.say(report(OWN_SSRC));
    const tell = setInterval(() => watcher.say(report(OWN_SSRC)), 1000);
    try {
      const widths = (): readonly number[] =>
        watcher.units.flatMap(({ data, key }) => (key ? [sizeOf('h264', data)?.width ?? 0] : []));
      await watcher.until(() => widths().some((width) => width > 0 && width < 3840));
      expect(widths()[0]).to.equal(3840);
      expect(camera.child.exitCode).to.equal(null);
      const count = watcher.units.length;
      await watcher.until(({ length }) => length > count + 10);
    } finally {
      clearInterval(tell);
    }
  });

  it('refuses what it cannot be', async () => {
    for (const wrong of [
      ['--fps', '0'],
      ['--width', 'wide'],
      ['--kbps', '1e9'],
      ['--no-such', '1'],
    ]) {
      const child = spawn(process.execPath, [programOf('bin/sim/camera/main'), ...wrong], {
        stdio: 'ignore',
      });
      const [code] = await once(child, 'exit');
      expect(code, wrong.join(' ')).to.equal(1);
    }
  });
});
