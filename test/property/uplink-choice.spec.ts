import { expect } from 'chai';
import { type Probe, type Uplink, UplinkChoice } from '../../front/machine/network/uplink-choice.ts';
import { seeded } from '../support/seeded.ts';

const TICK_MS = 1500;
const wired: Uplink = { device: 'eth0', name: 'eth0', kind: 'wired', gateway: '10.0.0.1', metric: 100 };
const wifi: Uplink = { device: 'wlan0', name: 'wlan0', kind: 'wifi', gateway: '10.0.1.1', metric: 600 };
const modem: Uplink = { device: 'wwan0', name: 'cdc-wdm0', kind: 'modem', gateway: '10.0.2.1', metric: 700 };
const ALL = [wired, wifi, modem];

const GOOD: Probe = { gatewayMs: 1, hubMs: 20 };
const SILENT: Probe = { gatewayMs: null, hubMs: null };
const HALF: Probe = { gatewayMs: 1, hubMs: null };

/** Rounds of probes, each a tick after the other. */
class Rounds {
  readonly choice = new UplinkChoice(['wired', 'wifi', 'modem']);
  now = 0;
  used: Uplink | null = wired;
  switches = 0;

  run(count: number, probes: (uplink: Uplink, round: number) => Probe): string | undefined {
    for (let round = 0; round < count; round++) {
      this.now += TICK_MS;
      for (const uplink of ALL) this.choice.note(uplink.device, probes(uplink, round), this.now);
      const best = this.choice.best(ALL, [], this.used);
      if (best?.device !== this.used?.device) this.switches++;
      this.used = best;
    }
    return this.used?.device;
  }
}

describe('the choice of the uplink', () => {
  const cases: readonly (readonly [string, (rounds: Rounds) => string | undefined, string])[] = [
    ['all answer', (r) => r.run(10, () => GOOD), 'eth0'],
    ['two probes are lost', (r) => r.run(2, (u) => (u === wired ? SILENT : GOOD)), 'eth0'],
    ['three are lost', (r) => r.run(3, (u) => (u === wired ? SILENT : GOOD)), 'wlan0'],
    ['the hub is behind the second only', (r) => r.run(3, (u) => (u === wifi ? GOOD : HALF)), 'wlan0'],
    ['the hub is away', (r) => r.run(40, () => HALF), 'eth0'],
    ['the hub goes away', (r) => (r.run(10, () => GOOD), r.run(40, () => HALF)), 'eth0'],
    ['nothing answers at all', (r) => (r.run(10, () => GOOD), r.run(40, () => SILENT)), 'eth0'],
    ['no gateway ever answers, and there is no hub', (r) => r.run(40, () => ({ gatewayMs: null })), 'eth0'],
    [
      'it answers again for 28.5 s',
      (r) => (r.run(3, (u) => (u === wired ? SILENT : GOOD)), r.run(20, () => GOOD)),
      'wlan0',
    ],
    [
      'it answers again for 30 s',
      (r) => (r.run(3, (u) => (u === wired ? SILENT : GOOD)), r.run(21, () => GOOD)),
      'eth0',
    ],
    [
      'one probe is lost on the way back',
      (r) => (
        r.run(3, (u) => (u === wired ? SILENT : GOOD)),
        r.run(30, (u, n) => (u === wired && n === 15 ? SILENT : GOOD))
      ),
      'wlan0',
    ],
  ];
  for (const [what, act, device] of cases)
    it(`${what}: ${device}`, () => {
      const rounds = new Rounds();
      if (!what.startsWith('no gateway')) rounds.run(5, () => GOOD);
      expect(act(rounds)).to.equal(device);
    });

  it('takes an order of interfaces before the order of kinds, and no kind that is not in it', () => {
    const choice = new UplinkChoice(['wired', 'modem']);
    expect(choice.best(ALL, ['cdc-wdm0'], null)?.device).to.equal('wwan0');
    expect(choice.best([wifi], [], null)).to.equal(null);
    expect(choice.best([], [], wired)).to.equal(null);
  });

  it('does not believe an uplink that the process before had given up, until it has answered for 30 s', () => {
    const rounds = new Rounds();
    rounds.used = modem;
    for (const { device } of [wired, wifi]) rounds.choice.distrust(device, 0);
    expect(rounds.run(20, () => GOOD)).to.equal('wwan0');
    expect(rounds.run(1, () => GOOD)).to.equal('eth0');
  });

  it('begins anew with an interface that went and came', () => {
    const rounds = new Rounds();
    rounds.run(3, (uplink) => (uplink === wired ? SILENT : GOOD));
    rounds.choice.keep(new Set(['wlan0', 'wwan0']));
    expect(rounds.choice.reachable('eth0')).to.equal(null);
    expect(rounds.run(1, () => GOOD)).to.equal('eth0');
  });

  it('does not flap, whatever comes: an hour has at most a few changes for each uplink', () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const random = seeded(seed);
      const rounds = new Rounds();
      // Each is away for a while and back for a while, from a few seconds to a few minutes.
      const away = new Map(ALL.map(({ device }) => [device, { until: 0, is: false }]));
      rounds.run(2400, ({ device }) => {
        const state = away.get(device);
        if (state === undefined) return GOOD;
        if (rounds.now > state.until) {
          state.is = !state.is;
          state.until = rounds.now + 2000 + random() * (state.is ? 10_000 : 60_000);
        }
        return state.is ? SILENT : GOOD;
      });
      expect(rounds.switches, `seed ${seed}`).to.be.lessThan(100);
    }
  });
});
