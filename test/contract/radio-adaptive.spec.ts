import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { LinkAdaptation } from '../../front/control/radio/link-adaptation.ts';
import { TestNode } from '../support/node.ts';
import { ReportServer, recorded } from '../support/report-server.ts';

const make = (): LinkAdaptation => new LinkAdaptation({ fullKbps: 4000, leastKbps: 300, fecShare: 1 / 3 });

describe('the bit rate that follows the link', () => {
  it('goes down with the report that shows drops, by as much, and says why', () => {
    const adaptation = make();
    expect(adaptation.take({ at: 0, dropped: 0.005, loss: 0.05 })).to.equal(null);
    const change = adaptation.take({ at: 100, dropped: 0.4, loss: 0 });
    expect(change?.kbps).to.be.within(2100, 2300);
    expect(change?.reason).to.equal('40 % of what was to be sent was dropped');
  });

  it('loss counts from half of what FEC makes good', () => {
    const adaptation = make();
    expect(adaptation.take({ at: 0, dropped: 0, loss: 0.15 })).to.equal(null);
    const change = adaptation.take({ at: 100, dropped: 0, loss: 0.25 });
    expect(change?.kbps).to.be.within(2700, 2900);
    expect(change?.reason).to.equal('25 % was lost before FEC');
  });

  it('goes up in steps, each after three quiet seconds, and never above what is asked for', () => {
    const adaptation = make();
    adaptation.take({ at: 0, dropped: 0.4, loss: null });
    const rates: number[] = [];
    const times: number[] = [];
    for (let at = 100; at <= 20_000; at += 100) {
      const change = adaptation.take({ at, dropped: 0, loss: null });
      if (change === null) continue;
      rates.push(change.kbps);
      times.push(at);
    }
    expect(rates).to.have.length.greaterThan(2);
    expect(rates).to.deep.equal(rates.toSorted((a, b) => a - b));
    expect(rates.at(-1)).to.equal(4000);
    for (const [index, at] of times.entries()) expect(at - (times[index - 1] ?? 0)).to.be.at.least(3000);
  });

  it('a loss in between begins the three seconds anew; what is heard of nobody changes nothing', () => {
    const adaptation = make();
    adaptation.take({ at: 0, dropped: 0.4, loss: null });
    const { kbps } = adaptation;
    expect(adaptation.take({ at: 2900, dropped: 0.02, loss: null })?.kbps).to.be.lessThan(kbps);
    expect(adaptation.take({ at: 5800, dropped: null, loss: null })).to.equal(null);
    expect(adaptation.take({ at: 6000, dropped: null, loss: null })?.kbps).to.be.greaterThan(kbps * 0.9);
  });

  it('keeps a picture, however bad it gets', () => {
    const adaptation = make();
    for (let at = 0; at < 10_000; at += 100) adaptation.take({ at, dropped: 0.9, loss: 1 });
    expect(adaptation.kbps).to.equal(300);
  });
});

describe('a drone whose radio is full', () => {
  const server = new ReportServer();
  let node: TestNode;

  before(async () => {
    await server.start();
    node = await TestNode.start({
      config: `video:\n  source: test\n  hero: {width: 320, height: 180, fps: 10, bitrate_kbps: 1000}\nradio:\n  mode: external\n  adaptive: true\n  api_port: ${server.port}\n`,
      simulated: false,
    });
    await server.client();
  });
  after(async () => {
    await node.stop();
    await server.stop();
  });

  it('encodes less from the report on, and the log says why', async () => {
    const rate = async (): Promise<unknown> =>
      ((await node.json('/api/video')).body['profile'] as { bitrate_kbps?: number } | null)?.bitrate_kbps;
    while ((await rate()) !== 1000) await delay(50);
    server.send(`${recorded('drone-saturated').join('\n')}\n`);
    while ((await rate()) === 1000) await delay(50);
    expect(await rate()).to.be.within(450, 600);
    expect(node.stderr).to.match(
      /radio: video at most \d+ kbit\/s: 43.4 % of what was to be sent was dropped/,
    );
  });
});
