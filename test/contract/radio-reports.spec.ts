import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import winston from 'winston';
import { diagnose, type Evidence } from '../../front/control/radio/diagnosis.ts';
import { LinkState } from '../../front/control/radio/link-state.ts';
import { RadioLink } from '../../front/control/radio/radio-link.ts';
import { parseReport } from '../../front/control/radio/report.ts';
import { LineSplitter } from '../../shared/rpc/lines.ts';
import { ReportServer, recorded } from '../support/report-server.ts';

type Profile = 'drone' | 'ground-station';

/** A link that reads a recording over TCP, on a clock that goes with the recording's own. */
class Replay {
  readonly server: ReportServer;
  readonly link: RadioLink;
  readonly lines: string[] = [];
  now = 1_000_000;

  private constructor(profile: Profile, server: ReportServer) {
    this.server = server;
    const { port } = server;
    const log = winston.createLogger({
      transports: new winston.transports.Stream({
        stream: process.stdout,
        format: winston.format((info) => {
          this.lines.push(String(info.message));
          return false;
        })(),
      }),
    });
    const monotonic = (): number => this.now;
    this.link = new RadioLink({
      slot: 0,
      profile,
      port,
      monotonic,
      now: () => 1_700_000_000_000,
      log,
    });
  }

  static async of(profile: Profile): Promise<Replay> {
    const server = new ReportServer();
    await server.start();
    const replay = new Replay(profile, server);
    replay.link.start();
    await server.client();
    await until(() => replay.link.connectionProblem === null);
    return replay;
  }

  /** Plays whole lines, each at its own time; `seconds` later the link is looked at. */
  async play(lines: readonly string[], seconds = 0.5): Promise<void> {
    let first: number | null = null;
    const began = this.now;
    for (const line of lines) {
      const { timestamp } = JSON.parse(line) as { timestamp?: number };
      first ??= timestamp ?? null;
      if (timestamp !== undefined && first !== null) this.now = began + (timestamp - first) * 1000;
      this.server.send(`${line}\n`);
      await this.#taken();
    }
    this.now += seconds * 1000;
  }

  /** A line that is none marks that everything before it was read. */
  async #taken(): Promise<void> {
    const before = this.link.garbage;
    this.server.send('{}\n');
    await until(() => this.link.garbage > before);
  }

  async stop(): Promise<void> {
    this.link.stop();
    await this.server.stop();
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(1);
}

interface Expected {
  readonly state: string;
  readonly diagnosis: string | null;
  readonly rssi?: number;
  /** Least and most. */
  readonly before?: readonly [number, number];
  readonly kbps?: readonly [number, number];
  readonly antennas?: number;
}

const NO_LOSS = [0, 1] as const;
const VIDEO = [1800, 2100] as const;
const SENT = [2900, 3200] as const;

/** What each recording shows half a second after its last line (wfb-ng 25.01 at 2 Mbit/s, FEC 8/12). */
const RECORDINGS: Readonly<Record<string, Expected>> = {
  'gs-1card-loss0': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: VIDEO, antennas: 2 },
  'gs-1card-loss5': { state: 'active', diagnosis: null, before: [3, 8], kbps: VIDEO, antennas: 2 },
  'gs-1card-loss15': { state: 'active', diagnosis: null, before: [11, 20], kbps: VIDEO, antennas: 2 },
  'gs-1card-loss30': { state: 'active', diagnosis: null, before: [25, 35], kbps: [1500, 2000], antennas: 2 },
  'gs-loss0': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: VIDEO, antennas: 4 },
  // Two cards: what one misses, the other has.
  'gs-loss5': { state: 'active', diagnosis: null, before: [0, 3], kbps: VIDEO, antennas: 4 },
  'gs-loss30': { state: 'active', diagnosis: null, before: [5, 13], kbps: VIDEO, antennas: 4 },
  'gs-loss30-burst6': { state: 'active', diagnosis: null, before: [5, 20], kbps: [1700, 2100], antennas: 4 },
  'gs-goodagain': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: VIDEO, antennas: 4 },
  'gs-corrupt10': { state: 'active', diagnosis: null, before: [0, 3], kbps: VIDEO, antennas: 4 },
  'gs-wrongkey': { state: 'mis_keyed', diagnosis: 'wrong_key', antennas: 0 },
  'gs-peer-gone': { state: 'searching', diagnosis: 'peer_silent', antennas: 0 },
  'gs-never-peer': { state: 'searching', diagnosis: 'peer_silent', antennas: 0 },
  'drone-1card-loss0': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: SENT, antennas: 2 },
  'drone-1card-loss5': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-1card-loss15': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-1card-loss30': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-loss0': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: SENT, antennas: 2 },
  'drone-loss5': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-loss30': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-loss30-burst6': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-goodagain': { state: 'active', diagnosis: null, before: NO_LOSS, kbps: SENT, antennas: 2 },
  'drone-corrupt10': { state: 'active', diagnosis: null, kbps: SENT, antennas: 2 },
  'drone-wrongkey': { state: 'mis_keyed', diagnosis: 'wrong_key', antennas: 0 },
  'drone-saturated': { state: 'searching', diagnosis: 'peer_silent', kbps: [10_000, 11_000] },
};

const profileOf = (name: string): Profile => (name.startsWith('drone') ? 'drone' : 'ground-station');

function diagnosisOf({ link }: Replay, profile: Profile, more: Partial<Evidence> = {}): string | null {
  return (
    diagnose({
      drone: profile === 'drone',
      state: link.state,
      cameraSilent: link.cameraSilent,
      silentSeconds: link.silentSeconds,
      figures: link.figures,
      missingCards: [],
      channel: 165,
      tunedTo: 165,
      changeProblem: null,
      unansweredSeconds: null,
      ...more,
    })?.kind ?? null
  );
}

const within = (value: number | null, [least, most]: readonly [number, number], what: string): void => {
  expect(value, what).to.be.a('number').and.to.be.at.least(least).and.at.most(most);
};

describe('the reports of wfb-ng, as they were recorded', () => {
  let replay: Replay;
  afterEach(async () => replay.stop());

  for (const [name, expected] of Object.entries(RECORDINGS)) {
    it(`${name}: ${expected.state}${expected.diagnosis === null ? '' : `, ${expected.diagnosis}`}`, async () => {
      const profile = profileOf(name);
      replay = await Replay.of(profile);
      await replay.play(recorded(name), expected.state === 'mis_keyed' ? 1 : 0.5);
      const { link } = replay;
      expect(link.state).to.equal(expected.state);
      expect(diagnosisOf(replay, profile)).to.equal(expected.diagnosis);
      const { figures } = link;
      if (expected.before !== undefined) within(figures.loss_before_fec_percent, expected.before, 'loss');
      if (expected.kbps !== undefined) within(figures.bitrate_kbps, expected.kbps, 'kbit/s');
      if (expected.antennas !== undefined) expect(figures.antennas).to.have.length(expected.antennas);
      if (expected.state === 'active') {
        within(figures.rssi_dbm, [-47, -43], 'RSSI of the best antenna');
        within(figures.snr_db, [45, 49], 'its SNR');
        expect(figures.frequency_mhz).to.equal(5825);
        expect(link.silentSeconds).to.be.a('number');
      } else {
        expect(figures.rssi_dbm).to.equal(null);
        expect(link.silentSeconds).to.equal(null);
      }
    });
  }

  it('figures of a ground station are the totals of its video, and of a drone those of the tunnel', async () => {
    replay = await Replay.of('ground-station');
    const lines = recorded('gs-1card-loss30');
    await replay.play(lines);
    const last = (id: string, from: readonly string[]): Record<string, [number, number]> =>
      (
        JSON.parse(from.findLast((line) => line.includes(`"id": "${id}"`)) ?? '{}') as {
          packets: Record<string, [number, number]>;
        }
      ).packets;
    const video = last('video rx', lines);
    expect(replay.link.figures).to.include({
      packets_received: video['uniq']?.[1],
      packets_lost: video['lost']?.[1],
      fec_failed: video['lost']?.[1],
      fec_recovered: video['fec_rec']?.[1],
      decrypt_errors: video['dec_err']?.[1],
      fec_k: 8,
      fec_n: 12,
    });
    await replay.stop();
    replay = await Replay.of('drone');
    const drone = recorded('drone-loss30');
    await replay.play(drone);
    expect(replay.link.figures.packets_received).to.equal(last('tunnel rx', drone)['uniq']?.[1]);
    expect(replay.link.figures.bitrate_kbps).to.equal(
      Math.round(((last('video tx', drone)['injected_bytes']?.[0] ?? 0) * 8) / 1000),
    );
  });

  it('the card that sends, also where the address of its machine is above its index', async () => {
    // As wfb-ng 25.01 has it in cluster mode: 127.0.0.1 and 10.0.0.2, the second card of each.
    for (const [wlan, card] of [
      ['1', 1],
      [String((0x7f00_0001n << 24n) | 1n), 1],
      [String((0x0a00_0002n << 24n) | 1n), 1],
      ['null', null],
      ['1.5', null],
    ] as const) {
      replay = await Replay.of('ground-station');
      await replay.play(
        recorded('gs-loss0').map((line) => line.replaceAll(/"tx_wlan": \w+/g, `"tx_wlan": ${wlan}`)),
      );
      expect(replay.link.figures.tx_card, wlan).to.equal(card);
      await replay.stop();
    }
    replay = await Replay.of('ground-station');
  });

  it('active holds for 3 s after the last tunnel packet; then nothing is heard; without reports it is stale', async () => {
    replay = await Replay.of('ground-station');
    await replay.play(recorded('gs-loss0'), 0);
    expect(replay.link.state).to.equal('active');
    const began = replay.now;
    await replay.play(recorded('gs-peer-gone').slice(1), 0);
    expect(replay.link.state).to.equal('active');
    replay.now = began + 3500;
    expect(replay.link.state).to.equal('searching');
    replay.now += 3000;
    expect(replay.link.state).to.equal('stale');
  });

  it('what is lost in a silence is no alarm when the link is back', async () => {
    replay = await Replay.of('ground-station');
    const silent = recorded('gs-peer-gone').filter((line) => line.includes('"video rx"'));
    const back = recorded('gs-loss0').filter((line) => line.includes('"video rx"'));
    const spike = (back[0] ?? '').replace(/"lost": \[0, \d+\]/, '"lost": [854, 854]');
    expect(spike).to.include('854');
    await replay.play([...silent.slice(-2), spike], 0);
    expect(replay.link.figures.loss_before_fec_percent).to.equal(null);
    await replay.play(back.slice(1), 0);
    within(replay.link.figures.loss_before_fec_percent, NO_LOSS, 'after the spike');
  });

  it('a camera that is off is no lost link', async () => {
    replay = await Replay.of('ground-station');
    const silent = recorded('gs-loss0').map((line) =>
      line.includes('"video rx"')
        ? (recorded('gs-peer-gone').find((other) => other.includes('"video rx"')) ?? '')
        : line,
    );
    const ordered = silent.filter((line) => !line.includes('"video rx"'));
    const video = silent.find((line) => line.includes('"video rx"')) ?? '';
    await replay.play([ordered[0] ?? '', video], 0);
    await replay.play(ordered.slice(1), 0);
    replay.now += 800;
    const tunnel = ordered.filter((line) => line.includes('"tunnel rx"')).slice(-1);
    await replay.play([...tunnel], 0.3);
    expect(replay.link.state).to.equal('active');
    expect(replay.link.cameraSilent).to.equal(true);
    expect(diagnosisOf(replay, 'ground-station')).to.equal('camera_silent');
    within(replay.link.figures.rssi_dbm, [-47, -43], 'RSSI of the tunnel');
  });

  it('a drone that sends more than the air takes is told so', async () => {
    replay = await Replay.of('drone');
    await replay.play(recorded('drone-loss0'), 0);
    await replay.play(recorded('drone-saturated'), 0);
    expect(replay.link.state).to.equal('active');
    expect(diagnosisOf(replay, 'drone')).to.equal('overload');
    within(replay.link.figures.tx_dropped_percent, [25, 50], 'dropped');
  });

  it('a ground station that loses two thirds of the video though the signal is strong is told that the air is full', async () => {
    replay = await Replay.of('ground-station');
    // As measured on a saturated link: 69 % are lost after FEC.
    const saturated = recorded('gs-loss0').map((line) =>
      line.includes('"video rx"')
        ? line
            .replace(/"out": \[\d+/, '"out": [65')
            .replace(/"uniq": \[\d+/, '"uniq": [97')

            .replace(/"lost": \[\d+/, '"lost": [145')
        : line,
    );
    await replay.play(saturated, 0);
    expect(replay.link.state).to.equal('active');
    within(replay.link.figures.loss_percent, [60, 75], 'loss');
    expect(diagnosisOf(replay, 'ground-station')).to.equal('overload');
    const weak = { ...replay.link.figures, snr_db: 8 };
    expect(diagnosisOf(replay, 'ground-station', { figures: weak })).to.equal('weak_signal');
  });

  it('an end that hears the other one, whose svc-control says nothing, is told that the link may be one-way', async () => {
    for (const [profile, recording] of [
      ['ground-station', 'gs-loss0'],
      ['drone', 'drone-loss0'],
    ] as const) {
      replay = await Replay.of(profile);
      await replay.play(recorded(recording), 0);
      expect(replay.link.activeSeconds).to.be.a('number');
      expect(diagnosisOf(replay, profile, { unansweredSeconds: 9 })).to.equal(null);
      expect(diagnosisOf(replay, profile, { unansweredSeconds: 10 })).to.equal('one_way');
      replay.now += 4000;
      expect(replay.link.activeSeconds).to.equal(null);
      expect(diagnosisOf(replay, profile, { state: 'searching' })).to.equal('peer_silent');
      expect(diagnosisOf(replay, profile, { changeProblem: 'It is not over.' })).to.equal('channel_change');
      if (profile === 'ground-station') await replay.stop();
    }
  });

  it('an antenna id beyond 2^53 is read without loss', async () => {
    replay = await Replay.of('ground-station');
    // 192.168.10.20 << 32 | card 1 << 8 | antenna 1
    const id = ((0xc0a8_0a14n << 32n) | 0x101n).toString();
    expect(Number(id)).to.be.greaterThan(Number.MAX_SAFE_INTEGER);
    const line = (recorded('gs-loss0').findLast((each) => each.includes('"video rx"')) ?? '').replace(
      '"ant": 257',
      `"ant": ${id}`,
    );
    await replay.play([line]);
    expect(replay.link.figures.antennas[0]).to.include({ id, card: 1, antenna: 1, host: '192.168.10.20' });
  });

  it('an API that ends is down, comes back by itself, and each change stands in the log', async () => {
    replay = await Replay.of('ground-station');
    await replay.play(recorded('gs-loss0'));
    replay.server.cut();
    await until(() => replay.link.state === 'down');
    expect(replay.link.figures.rssi_dbm).to.equal(null);
    await replay.server.client();
    await until(() => replay.link.state === 'searching');
    await replay.play(recorded('gs-loss0'));
    expect(replay.link.state).to.equal('active');
    const told = replay.lines.filter((line) => line.startsWith('radio:'));
    expect(told.map((line) => line.split(' ').at(-1))).to.include.members(['searching', 'active', 'down']);
  });

  it('a line without an end, of more than the largest report, ends the connection and not the node', async () => {
    replay = await Replay.of('ground-station');
    replay.server.send(Buffer.alloc(300 * 1024, 'x'));
    await until(() => replay.link.state === 'down');
    expect(replay.link.connectionProblem).to.match(/longer than/);
  });

  it('the history keeps five minutes, oldest first, and no more', async () => {
    replay = await Replay.of('ground-station');
    const line = recorded('gs-loss0').findLast((each) => each.includes('"video rx"')) ?? '';
    for (let index = 0; index < 400; index++) {
      replay.now += 1000;
      replay.server.send(`${line}\n`);
      if (index % 50 === 49) await replay.play([]);
    }
    replay.server.send('{}\n');
    await until(() => replay.link.garbage > 0);
    expect(replay.link.samples(100_000)).to.have.length(300);
    expect(replay.link.samples(100_000)[0]).to.have.keys(
      'timestamp',
      'rssi_dbm',
      'snr_db',
      'loss_percent',
      'loss_before_fec_percent',
      'bitrate_kbps',
    );
  });
});

describe('a stream of reports', () => {
  const bytes = Buffer.from(`${recorded('gs-loss5').join('\n')}\nnonsense\n{"type":"rx"}\n[1]\n`);

  function read(chunks: readonly Buffer[]): unknown {
    const state = new LinkState('ground-station');
    const splitter = new LineSplitter(1_000_000);
    let now = 0;
    state.connected(0);
    for (const chunk of chunks)
      splitter.push(chunk, (line) => {
        now += 10;
        const report = parseReport(line);
        if (report !== null) state.take(report, now);
      });
    return { figures: state.figures, state: state.stateAt(now), cards: state.cards };
  }

  it('gives the same, wherever it is torn', () => {
    const whole = read([bytes]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index] ?? 0, end));
        expect(read(chunks)).to.deep.equal(whole);
      }),
      { numRuns: 100 },
    );
    expect(read([...bytes].map((byte) => Buffer.from([byte])))).to.deep.equal(whole);
  });

  it('never throws at a line, whatever it holds', () => {
    const state = new LinkState('drone');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        const report = parseReport(line);
        if (report !== null) state.take(report, 0);
      }),
    );
    for (const line of [
      '{"type":"rx","id":"tunnel rx","packets":{"data":[1e999,2],"uniq":"x"},"rx_ant_stats":[{"ant":-1},7,null]}',
      '{"type":"rx","id":"__proto__","packets":{}}',
      '{"type":"settings","settings":{"common":{"log_interval":0}},"wlans":[1,"a"]}',
    ]) {
      const report = parseReport(line);
      expect(report).to.not.equal(null);
      if (report !== null) state.take(report, 0);
    }
    expect(state.figures.packets_received).to.equal(null);
  });
});
