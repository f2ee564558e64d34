import { expect } from 'chai';
import { Outputs, type OutputsOptions } from '../../residual/video/outputs/outputs.ts';
import type { AccessUnit } from '../../shared/media/picture.ts';
import { isControl } from '../../shared/media/rtcp.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { FOLLOW_MS, MAX_FOLLOWED } from '../../shared/rpc/video.ts';
import type { VideoSource } from '../../shared/schemas/addresses.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';

const LOG = createLogger('test', 'silent');

/** A clock that is set by hand; microseconds. */
class Hand {
  at = 1_000_000;
  micros(): number {
    return this.at;
  }
  wall(): number {
    return 0;
  }
}

function unit(at: number): AccessUnit {
  return { codec: 'h264', data: Buffer.from([0, 0, 0, 1, 0x65, 1, 2, 3]), key: true, capturedAt: 0, at };
}

function open(options: Partial<OutputsOptions> & { clock?: Hand } = {}): Outputs {
  return new Outputs({
    radio: null,
    outputs: [],
    followPort: null,
    sources: [{ kind: 'bars' }],
    own: () => new Set(['10.1.2.3']),
    random: () => 0.5,
    clock: new Hand(),
    log: LOG,
    ...options,
  });
}

describe('where the picture is sent', () => {
  it('one RTP stream goes to all, with numbers that have no gap', async () => {
    await using one = await UdpReceiver.open();
    await using two = await UdpReceiver.open();
    const outputs = open({
      radio: { host: '127.0.0.1', port: one.port },
      outputs: [{ kind: 'rtp', host: 'localhost', port: two.port }],
    });
    // A name is looked up first.
    for (let at = 0; two.datagrams.length < 3; at += 33_000) {
      outputs.send(unit(at));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const first = two.datagrams[0]?.readUInt16BE(2) ?? 0;
    const numbers = two.datagrams.map((datagram) => datagram.readUInt16BE(2));
    expect(numbers).to.deep.equal(numbers.map((_number, index) => first + index));
    await one.until((all) => two.datagrams.every((datagram) => all.some((other) => other.equals(datagram))));
    expect(outputs.status[0]).to.include({
      to: `localhost:${two.port}`,
      kind: 'rtp',
      address: '127.0.0.1',
      followed: false,
      failed: 0,
      problem: null,
    });
    expect(outputs.radio?.packets).to.be.at.least(one.datagrams.length);
    await outputs.stop();
  });

  it('while no pictures come it is known whether anybody has the port of the radio open', async () => {
    const { port } = await (async () => {
      await using free = await UdpReceiver.open();
      return { port: free.port };
    })();
    const clock = new Hand();
    const outputs = open({ clock, radio: { host: '127.0.0.1', port } });
    // On this machine the kernel says it at once, and the socket hears it in its next turn.
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    while (outputs.wanted) {
      outputs.send(unit(clock.at));
      await turns();
    }
    const { packets = 0 } = outputs.radio ?? {};
    outputs.keepAlive();
    expect(outputs.radio?.packets, 'a picture was sent just now').to.equal(packets);
    for (let second = 0; second < 10; second++) {
      clock.at += 1_000_000;
      outputs.keepAlive();
      await turns();
      expect(outputs.wanted, `after ${second + 1} s`).to.equal(false);
    }
    await using radio = await UdpReceiver.open(port);
    for (let second = 0; !outputs.wanted; second++) {
      expect(second).to.be.below(6);
      clock.at += 1_000_000;
      outputs.keepAlive();
      await turns();
    }
    await radio.until(({ length }) => length > 0);
    expect(radio.datagrams.every(isControl)).to.equal(true);
    const { length } = radio.datagrams;
    clock.at += 1_000_000;
    outputs.keepAlive();
    outputs.send(unit(clock.at));
    await radio.until((all) => all.length > length);
    expect(radio.datagrams.slice(length).some(isControl), 'no more of it').to.equal(false);
    await outputs.stop();
  });

  it('a ground station is followed while it is named, and then no more', async () => {
    await using station = await UdpReceiver.open();
    const clock = new Hand();
    const outputs = open({ followPort: station.port, clock });
    expect(outputs.follow(['127.0.0.1'])).to.equal(true);
    expect(outputs.follow(['127.0.0.1'])).to.equal(false);
    outputs.send(unit(clock.at));
    await station.until((all) => all.length === 1);
    expect(outputs.status).to.have.length(1);
    expect(outputs.status[0]).to.include({ to: `127.0.0.1:${station.port}`, followed: true, problem: null });
    clock.at += FOLLOW_MS * 1000 - 1;
    expect(outputs.status).to.have.length(1);
    clock.at += 1;
    outputs.send(unit(clock.at));
    expect(outputs.status).to.deep.equal([]);
    expect(outputs.follow(['127.0.0.1'])).to.equal(true);
    expect(outputs.follow([])).to.equal(false);
    expect(outputs.status).to.deep.equal([]);
    const many = Array.from({ length: 20 }, (_none, index) => `127.0.1.${index}`);
    outputs.follow(many);
    expect(outputs.status).to.have.length(MAX_FOLLOWED);
    await outputs.stop();
  });

  it('nobody is followed without the setting, nor whoever has the picture already', async () => {
    const off = open();
    expect(off.follow(['127.0.0.1'])).to.equal(false);
    expect(off.status).to.deep.equal([]);
    await off.stop();
    const on = open({ followPort: 5699, outputs: [{ kind: 'rtp', host: '127.0.0.1', port: 5699 }] });
    expect(on.follow(['127.0.0.1'])).to.equal(false);
    expect(on.status.map(({ followed }) => followed)).to.deep.equal([false]);
    await on.stop();
  });

  const source: VideoSource = { kind: 'rtp', host: '0.0.0.0', port: 5600 };
  for (const [host, port, back] of [
    ['127.0.0.1', 5600, true],
    ['10.1.2.3', 5600, true],
    ['10.1.2.3', 5601, false],
    ['10.1.2.4', 5600, false],
  ] as const) {
    it(`${host}:${port} ${back ? 'leads back to the source and gets nothing' : 'does not lead back'}`, async () => {
      const outputs = open({
        sources: [{ kind: 'bars' }, source],
        followPort: port,
        outputs: [{ kind: 'mpegts', host, port }],
      });
      outputs.follow([host]);
      for (const { problem } of outputs.status)
        if (back) expect(problem).to.include('video.source');
        else expect(problem).to.equal(null);
      if (back) {
        outputs.send(unit(1));
        expect(outputs.status.map(({ packets }) => packets)).to.deep.equal([0, 0]);
      }
      await outputs.stop();
    });
  }
});
