import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { access, chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { RadioConfig } from '../../front/control/radio/managed-wfb.ts';
import { WfbRadio } from '../../front/control/radio/wfb-radio.ts';
import type { BoundRadio } from '../../front/control/relay/bound-radios.ts';
import { cardSetting, channelRules, noiseOf } from '../../front/machine/iw.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import type { ApiError } from '../../shared/errors.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { Profile } from '../../shared/profile.ts';
import { helperAt } from '../../shared/rpc/helper-client.ts';
import { LoneHelper } from '../support/helper.ts';
import { RadioMachine } from '../support/radio-machine.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { parseWfbConfig } from '../support/wfb-server.ts';

const FINGERPRINT = '0011 2233 4455 6677 8899 aabb ccdd eeff';

function boundAt(slot: number): BoundRadio {
  return {
    slot,
    device_id: `drone-${slot}`,
    name: `Drone ${slot}`,
    fingerprint: FINGERPRINT.replace('0011', `00${slot}1`),
    paired_at: '2026-01-01T00:00:00Z',
    proved: true,
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

describe('wfb-ng, run by the node', () => {
  let machine: RadioMachine;
  let helper: LoneHelper;
  let base: string;
  let port: number;
  let radio: WfbRadio | null = null;
  let bound: BoundRadio[] = [];
  const listeners = new Set<() => void>();

  beforeEach(async () => {
    machine = await RadioMachine.of('wlan1', 'wlan2');
    helper = await LoneHelper.prepare();
    base = await tempDir();
    port = await freePort();
    bound = [boundAt(0)];
    await mkdir(join(base, 'etc/radio-keys'), { recursive: true });
    for (const slot of [0, 1, 2])
      await writeFile(join(base, `etc/radio-keys/slot-${slot}.key`), Buffer.alloc(64, 0xa0 + slot), {
        mode: 0o600,
      });
  });

  afterEach(async () => {
    await radio?.stop();
    radio = null;
    listeners.clear();
    await helper.stop();
    await machine.stop();
    await removeDir(base);
  });

  /** @param own lines of the section `radio` */
  function make(own = '', profile: Profile = 'ground-station'): WfbRadio {
    const text = `radio:\n  mode: managed\n  api_port: ${port}\n  cards: [wlan1, wlan2]\n${own}`;
    const config: RadioConfig = parseConfig(text, 'the test').radio;
    radio = new WfbRadio({
      iw: {
        card_setting: async ({ card }) => cardSetting(card),
        channel_rules: async ({ phy }) => channelRules(phy),
        noise: async ({ card }) => noiseOf(card),
      },
      profile,
      config,
      bound: {
        list: () => bound,
        onChange: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      paths: pathsFrom({ SVC_ETC_DIR: join(base, 'etc'), SVC_STATE_DIR: join(base, 'state') }),
      helper: helperAt(helper.socket),
      otherEnd: { silentMs: () => null, changeProblem: () => null },
      sysDir: machine.sys,
      adaptive: null,
      pollMs: 100,
      monotonic: () => performance.now(),
      now: Date.now,
      log: createLogger('test', 'error'),
    });
    return radio;
  }

  const startHelper = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    expect(await helper.start({ ...machine.env, ...env }), helper.stderr).to.equal(null);
  };

  it('starts with the cards and keys that there are; the link is heard over its own API', async () => {
    await startHelper();
    await machine.hears('gs-loss0');
    const started = make();
    await started.start();
    await until(async () => (await started.status()).state === 'active');
    expect(await machine.asked()).to.deep.equal(['restart -- svc-wfb.service']);
    const key = join(machine.folder, 'slot-0.key');
    expect(await readFile(key)).to.deep.equal(Buffer.alloc(64, 0xa0));
    for (const file of [key, join(machine.folder, 'wifibroadcast.cfg')])
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(helper.stderr).to.match(/radio_apply: done/);
    expect(helper.stderr).to.not.match(/a0a0/);
  });

  it('the configuration: what the config of the node says, loopback only, a profile and a tunnel for each slot', async () => {
    await startHelper();
    bound = [boundAt(0), boundAt(2)];
    await make(
      '  region: DE\n  channel: 149\n  mcs: 3\n  fec_k: 4\n  fec_n: 7\n  tx_power_dbm: 12\n',
    ).start();
    await until(async () => (await machine.asked()).length > 0);
    const config = parseWfbConfig(await machine.wfbConfig());
    expect(config.get('common')).to.deep.equal({
      wifi_channel: 149,
      wifi_region: 'DE',
      wifi_txpower: { wlan1: 1200, wlan2: 1200 },
      set_nm_unmanaged: false,
      tunnel_agg_timeout: 0.001,
    });
    expect(config.get('video')).to.deep.equal({ fec_k: 4, fec_n: 7 });
    expect(config.get('base')).to.deep.equal({ bandwidth: 20, mcs_index: 3 });
    const [first, third] = [config.get('svc_slot0'), config.get('svc_slot2')];
    expect([first?.['api_port'], third?.['api_port']]).to.deep.equal([port, port + 20]);
    expect(first?.['link_domain']).to.not.equal(third?.['link_domain']);
    expect(third?.['streams']).to.deep.equal([
      {
        name: 'video',
        stream_rx: 0,
        stream_tx: null,
        service_type: 'udp_direct_rx',
        profiles: ['base', 'gs_base', 'video', 'gs_video'],
        keypair: 'slot-2.key',
        peer: 'connect://127.0.0.1:5602',
      },
      {
        name: 'mavlink',
        stream_rx: 16,
        stream_tx: 144,
        service_type: 'mavlink',
        profiles: ['base', 'gs_base', 'mavlink', 'gs_mavlink'],
        keypair: 'slot-2.key',
        peer: 'connect://127.0.0.1:14552',
        control_port: 8221,
      },
      {
        name: 'tunnel',
        stream_rx: 32,
        stream_tx: 160,
        service_type: 'tunnel',
        profiles: ['base', 'gs_base', 'tunnel', 'gs_tunnel'],
        keypair: 'slot-2.key',
        ifname: 'gs-wfb2',
        ifaddr: '10.5.2.1/24',
        control_port: 8222,
      },
    ]);
    expect(await readFile(join(machine.folder, 'env'), 'utf8')).to.equal(
      'SVC_WFB_PROFILES=svc_slot0 svc_slot2\nSVC_WFB_CARDS=wlan1 wlan2\n',
    );
  });

  it('a drone listens where its camera and its flight controller send, whichever slot it has', async () => {
    await startHelper();
    bound = [boundAt(2)];
    await make('', 'drone').start();
    await until(async () => (await machine.asked()).length > 0);
    const streams = parseWfbConfig(await machine.wfbConfig()).get('svc_slot2')?.['streams'] as Record<
      string,
      unknown
    >[];
    expect(streams.map(({ peer, ifaddr, ifname }) => [peer, ifaddr, ifname])).to.deep.equal([
      ['listen://127.0.0.1:5602', undefined, undefined],
      ['listen://127.0.0.1:14560', undefined, undefined],
      [undefined, '10.5.2.2/24', 'drone-wfb'],
    ]);
  });

  it('a card that disappears ends wfb-ng, and the node starts it with the rest; it is back when the card is', async () => {
    await startHelper();
    await machine.hears('gs-loss0');
    const started = make();
    await started.start();
    await until(async () => (await started.status()).state === 'active');
    const before = await machine.pid();
    await machine.unplug('wlan1');
    await until(async () => ![0, before].includes(await machine.pid()));
    await until(async () => (await started.status()).state === 'active');
    expect(await machine.asked()).to.have.length(2);
    expect(await readFile(join(machine.folder, 'env'), 'utf8')).to.match(/^SVC_WFB_CARDS=wlan2$/m);
    expect((await started.status()).diagnosis?.kind).to.equal('card_missing');
    await machine.plug('wlan1');
    await until(async () => (await machine.asked()).length === 3);
    expect(await readFile(join(machine.folder, 'env'), 'utf8')).to.match(/^SVC_WFB_CARDS=wlan1 wlan2$/m);
    await machine.unplug('wlan1');
    await machine.unplug('wlan2');
    await until(async () => (await machine.asked()).at(-1) === 'stop -- svc-wfb.service');
    await until(() => started.problem?.message.includes('no radio card wlan1, wlan2') === true);
  });

  it('a restart of the node does not interrupt the radio; nor does a channel that is kept; new keys do', async () => {
    await startHelper();
    const first = make();
    await first.start();
    await until(async () => (await machine.asked()).length === 1);
    await first.keepChannel(36);
    await first.stop();
    expect(await machine.wfbConfig()).to.match(/^wifi_channel = 36$/m);
    const second = make('  channel: 36\n');
    await second.start();
    await until(async () => (await machine.asked()).length === 2);
    await writeFile(join(base, 'etc/radio-keys/slot-0.key'), Buffer.alloc(64, 0xa1), { mode: 0o600 });
    for (const listener of listeners) listener();
    await until(async () => (await machine.asked()).length === 3);
    expect(await machine.asked()).to.deep.equal([
      'restart -- svc-wfb.service',
      'start -- svc-wfb.service',
      'restart -- svc-wfb.service',
    ]);
  });

  it('a radio that is bound later is started then; one that is forgotten loses its key at once', async () => {
    await startHelper();
    bound = [];
    const started = make();
    await started.start();
    await until(() => started.problem !== null);
    expect(started.problem?.message).to.match(/No radio is bound/);
    expect((await started.status()).state).to.equal('absent');
    bound = [boundAt(0), boundAt(1)];
    for (const listener of listeners) listener();
    await until(async () => (await machine.asked()).includes('restart -- svc-wfb.service'));
    expect(started.links.map(({ slot }) => slot)).to.deep.equal([0, 1]);
    bound = [boundAt(1)];
    for (const listener of listeners) listener();
    await until(
      async () => (await machine.asked()).filter((line) => line.startsWith('restart')).length === 2,
    );
    expect(await gone(join(machine.folder, 'slot-0.key'))).to.equal(true);
    expect(await gone(join(machine.folder, 'slot-1.key'))).to.equal(false);
  });

  it('NetworkManager is told to leave the cards alone', async () => {
    const nm = join(base, 'nm');
    await mkdir(nm);
    await writeFile(join(machine.base, 'bin/nmcli'), `#!/bin/sh\necho "$@" >> ${nm}/asked\n`, {
      mode: 0o755,
    });
    await startHelper({ SVC_HELPER_NM_DIR: nm });
    await make().start();
    await until(async () => (await machine.asked()).length > 0);
    expect(await readFile(join(nm, 'conf.d/90-svc-radio.conf'), 'utf8')).to.match(
      /^\[keyfile\]\nunmanaged-devices\+=interface-name:wlan1;interface-name:wlan2$/m,
    );
    expect(await readFile(join(nm, 'asked'), 'utf8')).to.equal('general reload conf\n');
  });

  it('a machine without wfb-ng: 501 that names it; a node without svc-helper: 501 that names that', async () => {
    const without = make();
    await without.start();
    await until(() => without.problem !== null);
    expect(without.problem).to.include({ code: 'E_NOT_IMPLEMENTED' });
    expect(without.problem?.extras).to.deep.equal({ missing: 'svc-helper' });
    await without.stop();
    await rm(join(machine.base, 'bin/wfb-server'));
    await startHelper();
    const bare = make();
    await bare.start();
    await until(() => bare.problem !== null);
    expect(bare.problem?.extras).to.deep.equal({ missing: 'wfb-ng' });
    expect(await machine.asked()).to.deep.equal([]);
  });

  it('a key that others can read, or of another size, is not used', async () => {
    await startHelper();
    const key = join(base, 'etc/radio-keys/slot-0.key');
    await chmod(key, 0o644);
    const started = make();
    const refused = async (reason: RegExp): Promise<void> => {
      for (const listener of listeners) listener();
      await until(() => reason.test(started.problem?.message ?? ''));
    };
    await started.start();
    await refused(/slot-0.key is open to others/);
    await chmod(key, 0o600);
    await writeFile(key, 'short');
    await refused(/has 5 bytes, not 64/);
  });

  it('svc-helper takes nothing that could become another line of the configuration, or an option', async () => {
    await startHelper();
    const good = {
      profile: 'drone',
      region: 'DE',
      channel: 161,
      bandwidth_mhz: 20,
      mcs: 1,
      fec_k: 8,
      fec_n: 12,
      cards: [{ name: 'wlan1', mbm: null }],
      slots: [{ slot: 0, link: '00'.repeat(16), tunnel: '10.5.0.2', key: 'ab'.repeat(64) }],
      api_port: port,
      restart: 'never',
    };
    const [slot] = good.slots;
    const wrong: readonly object[] = [
      { region: "DE'\n[x]" },
      { cards: [{ name: '--help', mbm: null }] },
      { cards: [{ name: "a', 'b", mbm: null }] },
      { cards: [{ name: 'wlan1\nX=1', mbm: null }] },
      { cards: [] },
      { slots: [{ ...slot, tunnel: '10.5.0.2\n' }] },
      { slots: [{ ...slot, tunnel: "10.5.0.2', 'x': '" }] },
      { slots: [{ ...slot, link: '../../etc' }] },
      { slots: [{ ...slot, slot: -1 }] },
      { slots: [{ ...slot, key: 'ab' }] },
      { fec_k: 13 },
      { channel: 0 },
      { more: 1 },
    ];
    await helper.ask('radio_apply', good);
    const before = await machine.wfbConfig();
    for (const change of wrong) {
      const answer = await helper
        .ask('radio_apply', { ...good, ...change })
        .catch((error: ApiError) => error.code);
      expect(answer, JSON.stringify(change)).to.equal('E_INVALID_VALUE');
    }
    for (const params of [
      { card: '-h', channel: 36, bandwidth_mhz: 20 },
      { card: 'wlan1', channel: '36', bandwidth_mhz: 20 },
    ])
      expect(await helper.ask('radio_tune', params).catch((error: ApiError) => error.code)).to.equal(
        'E_INVALID_VALUE',
      );
    expect(await machine.wfbConfig()).to.equal(before);
    expect(await machine.asked()).to.deep.equal([]);
  });

  it('svc-helper keeps its hands off what is no Wi-Fi card', async () => {
    await startHelper();
    await rm(join(machine.sys, 'class/net/wlan2/phy80211'), { recursive: true });
    const words = async (method: string, params: object): Promise<unknown> =>
      helper.ask(method, params).catch((error: ApiError) => error.message);
    for (const card of ['wlan2', 'eth0']) {
      expect(await words('radio_tune', { card, channel: 36, bandwidth_mhz: 20 })).to.match(
        /is no Wi-Fi card/,
      );
      expect(await words('radio_power', { card, mbm: 1000 })).to.match(/is no Wi-Fi card/);
    }
    expect(await machine.channelOf('wlan2')).to.equal(161);
    const started = make();
    await started.start();
    await until(() => started.problem !== null);
    expect(started.problem?.message).to.match(/^wlan2 is no Wi-Fi card/);
    expect(await machine.asked()).to.deep.equal([]);
  });

  it('the stand-in answers on the control port as wfb_tx does', async () => {
    await startHelper();
    await make('', 'drone').start();
    await until(async () => (await machine.pid()) > 0);
    const socket = createSocket('udp4');
    const ask = async (bytes: readonly number[]): Promise<readonly number[]> => {
      for (;;) {
        socket.send(Buffer.from([0, 0, 0, 7, ...bytes]), 8200, '127.0.0.1');
        const answer = await Promise.race([once(socket, 'message'), delay(200)]);
        if (Array.isArray(answer)) return [...(answer[0] as Buffer)];
      }
    };
    expect(await ask([3])).to.deep.equal([0, 0, 0, 7, 0, 0, 0, 0, 8, 12]);
    expect(await ask([1, 4, 3])).to.deep.equal([0, 0, 0, 7, 0, 0, 0, 22]);
    expect(await ask([1, 4, 6])).to.deep.equal([0, 0, 0, 7, 0, 0, 0, 0]);
    expect(await ask([3])).to.deep.equal([0, 0, 0, 7, 0, 0, 0, 0, 4, 6]);
    socket.close();
  });
});

async function gone(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}
