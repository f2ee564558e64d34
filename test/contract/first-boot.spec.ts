import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { applyCard, type CardDeps } from '../../front/machine/first-boot/apply-card.ts';
import { SetupHotspot, type SetupHotspotDeps } from '../../front/machine/first-boot/setup-hotspot.ts';
import type { HotspotView } from '../../front/machine/network/hotspot.ts';
import type { Device } from '../../front/machine/network/nmcli.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { ApiError } from '../../shared/errors.ts';
import { parseCard, withoutSecrets } from '../../shared/first-boot/card-file.ts';
import { hostLabel } from '../../shared/first-boot/host-label.ts';
import { firstBootFile } from '../../shared/first-boot/record.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { Helper } from '../../shared/rpc/helper-client.ts';
import { edgeState, judge, verdict } from '../support/edge.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const log = createLogger('test', 'silent');
const MINUTE = 60_000;
const TEXT = `# the old one was "hidden in a comment"
profile: groundstation
name: Feld-Drohne Süd
wifi:
  ssid: 1234
  passphrase: 00123456
  country: NO
hotspot: {passphrase: "open sesame"}
`;

describe('a phone’s look for the internet on the node’s own network', () => {
  const unpaired = edgeState({ pairing: { paired: false, keyHash: null } });
  const probes: readonly [string, string][] = [
    ['captive.apple.com', '/hotspot-detect.html'],
    ['connectivitycheck.gstatic.com', '/generate_204'],
    ['www.msftconnecttest.com', '/connecttest.txt'],
    ['detectportal.firefox.com', '/success.txt?ipv4'],
  ];
  const ask = (host: string, target: string) => ({ target, headers: [['Host', host]] as const });

  it('is sent to the page of the set-up at the address that it came to', () => {
    for (const [host, target] of probes) {
      const hotspot = judge({ ...ask(host, target), from: 'hotspot' }, unpaired);
      expect(hotspot, host).to.include({ kind: 'redirect', location: 'http://192.168.4.1:8080/setup' });
      const usb = judge({ ...ask(host, target), from: 'usb' }, { ...unpaired, port: 80 });
      expect(usb, host).to.include({ kind: 'redirect', location: 'http://192.168.7.1/setup' });
    }
  });

  it('is refused as before on other networks, with other methods, relayed, and as a WebSocket', () => {
    const probe = ask('captive.apple.com', '/hotspot-detect.html');
    for (const from of ['loopback', 'link-local', 'lan', 'remote'] as const)
      expect(verdict({ ...probe, from }, unpaired), from).to.equal('E_ORIGIN');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])
      expect(verdict({ ...probe, from: 'hotspot', method }, unpaired), method).to.equal('E_ORIGIN');
    expect(verdict({ ...probe, from: 'hotspot', upgrade: true }, unpaired)).to.equal('E_ORIGIN');
    const relayed = { ...probe, headers: [...probe.headers, ['x-svc-relayed', '1'] as const] };
    expect(verdict({ ...relayed, from: 'hotspot' }, unpaired)).to.equal('E_ORIGIN');
    expect(verdict({ ...probe, unix: true }, unpaired)).to.equal('E_ORIGIN');
  });

  it('is answered like everything else once the node is paired, and under the node’s own address', () => {
    expect(verdict({ ...ask('captive.apple.com', '/api/status'), from: 'hotspot' })).to.equal(
      'E_UNAUTHENTICATED',
    );
    const own = edgeState({ ...unpaired, hosts: new Set(['192.168.4.1']) });
    expect(verdict({ ...ask('192.168.4.1', '/api/status'), from: 'hotspot' }, own)).to.equal('pass');
  });
});

describe('the file on the card', () => {
  it('is read as text, so that digits stay digits and Norway a country', () => {
    expect(parseCard(TEXT)).to.deep.equal({
      profile: 'ground-station',
      name: 'Feld-Drohne Süd',
      country: 'NO',
      wifi: { ssid: '1234', passphrase: '00123456', hidden: false },
      hotspot: { ssid: null, passphrase: 'open sesame' },
    });
    expect(parseCard('\uFEFFwifi: {ssid: Hall, hidden: true}\r\n').wifi).to.deep.equal({
      ssid: 'Hall',
      passphrase: null,
      hidden: true,
    });
  });

  it('is refused for what it does not know or cannot be, without a word of its values', () => {
    for (const [text, why] of [
      ['profile: plane', 'profile must be '],
      ['pin: 1234', 'pin is not known here'],
      ['wifi: {ssid: a, passphrase: secret7}', 'wifi.passphrase does not have the right form'],
      ['wifi: {passphrase: secret78}', 'wifi.ssid is missing'],
      ['wifi: {ssid: a, passphrase: *secret78}', 'Alias resolution is disabled'],
      ['wifi: {ssid: a, country: de}', 'wifi.country does not have the right form'],
      ['name: x\nname: secret78', 'line 2 is not YAML'],
      ['secret78', 'it has no keys'],
      ['', 'it has no keys'],
    ] as const)
      expect(() => parseCard(text), text)
        .to.throw(Error, why)
        .and.property('message')
        .not.include('secret7');
  });

  it('loses passphrases and comments, keeps the rest, and is not shorter, so that the old bytes are overwritten', () => {
    const next = withoutSecrets(TEXT);
    expect(Buffer.byteLength(next)).to.be.at.least(Buffer.byteLength(TEXT));
    expect(next).to.not.match(/00123456|sesame|hidden in/);
    expect(parseCard(next)).to.deep.include({ profile: 'ground-station', country: 'NO' });
    expect(parseCard(withoutSecrets(next))).to.deep.equal(parseCard(next));
  });

  it('names the host', () => {
    expect(hostLabel('a1b2c3d4e5f6', '')).to.equal('svc-a1b2c3');
    expect(hostLabel('a1b2c3d4e5f6', 'Feld-Drohne Süd 7!')).to.equal('feld-drohne-sud-7');
    expect(hostLabel('a1b2c3d4e5f6', '无人机')).to.equal('svc-a1b2c3');
    expect(hostLabel('a1b2c3d4e5f6', `${'a'.repeat(62)} b`)).to.equal('a'.repeat(62));
  });
});

describe('what the file asks for', () => {
  let base: string;
  let deps: CardDeps;
  let asked: string[];
  let joins: () => Promise<unknown>;
  const { signal } = new AbortController();

  beforeEach(async () => {
    base = await tempDir();
    const paths = pathsFrom({ SVC_ETC_DIR: join(base, 'etc'), SVC_STATE_DIR: join(base, 'state') });
    await mkdir(join(base, 'state'));
    asked = [];
    joins = async () => Promise.resolve();
    const note = (what: string) => async (params: unknown) => {
      asked.push(`${what} ${JSON.stringify(params)}`);
      return Promise.resolve({ done: true } as const);
    };
    deps = {
      paths,
      files: [join(base, 'none.yaml'), join(base, 'svc.yaml')],
      deviceId: 'a1b2c3d4e5f6',
      config: parseConfig('', 'defaults'),
      network: {
        join: async (request) => {
          await note('join')(request);
          return joins();
        },
      },
      hotspot: { prepare: async (ssid, passphrase) => void (await note('prepare')([ssid, passphrase])) },
      helper: {
        host_name: note('host_name'),
        wifi_on: note('wifi_on'),
        first_boot_done: note('first_boot_done'),
      } as unknown as Helper,
      now: () => 0,
      monotonic: () => performance.now(),
      log,
    };
    await writeFile(join(base, 'svc.yaml'), TEXT);
  });
  afterEach(async () => removeDir(base));

  it('is done once, written down, and its passphrases are taken away', async () => {
    expect(await applyCard(deps, signal)).to.equal(true);
    expect(asked).to.deep.equal([
      'host_name {"name":"feld-drohne-sud"}',
      'wifi_on {"country":"NO"}',
      'prepare [null,"open sesame"]',
      'join {"ssid":"1234","hidden":false,"stop_hotspot":true,"passphrase":"00123456"}',
      'first_boot_done {}',
    ]);
    const { config } = await loadConfig(deps.paths);
    expect(config.agent).to.include({ profile: 'ground-station', name: 'Feld-Drohne Süd' });
    expect(config.radio.region).to.equal('NO');
    const record = await firstBootFile(deps.paths.firstBoot).load();
    expect(record?.parts?.map(({ part, ok }) => `${part} ${ok}`)).to.deep.equal([
      'host name true',
      'profile true',
      'name true',
      'country true',
      'hotspot true',
      'Wi-Fi true',
      'passphrases true',
    ]);
    expect(await readFile(deps.paths.firstBoot, 'utf8')).to.not.match(/00123456|sesame/);

    asked = [];
    await writeFile(join(base, 'svc.yaml'), 'name: another');
    expect(await applyCard(deps, signal)).to.equal(false);
    expect(asked).to.deep.equal([]);
  });

  it('goes on with the rest where one thing fails, and says so', async () => {
    joins = async () => Promise.reject(new ApiError('E_INVALID_VALUE', '1234 is protected.'));
    await applyCard(deps, signal);
    const record = await firstBootFile(deps.paths.firstBoot).load();
    expect(record?.parts?.filter(({ ok }) => !ok)).to.deep.equal([
      { part: 'Wi-Fi', ok: false, detail: '1234 is protected.' },
    ]);
    expect(asked.at(-1)).to.equal('first_boot_done {}');
  });

  it('after a power cut, passphrases that are still on the card are taken away at the next start', async () => {
    await applyCard(deps, signal);
    const record = await firstBootFile(deps.paths.firstBoot).load();
    const cut = { ...record, parts: record?.parts?.filter(({ part }) => part !== 'passphrases') };
    await writeFile(deps.paths.firstBoot, JSON.stringify(cut));
    asked = [];
    expect(await applyCard(deps, signal)).to.equal(false);
    expect(asked).to.deep.equal(['first_boot_done {}']);
    expect(await firstBootFile(deps.paths.firstBoot).load()).to.deep.equal(record);
  });

  it('is nothing where the file is refused; once it is corrected, it counts', async () => {
    await writeFile(join(base, 'svc.yaml'), 'profile: plane\nname: x');
    expect(await applyCard(deps, signal)).to.equal(false);
    expect(asked).to.deep.equal([]);
    const record = await firstBootFile(deps.paths.firstBoot).load();
    expect(record).to.deep.include({ parts: null });
    expect(record?.problem).to.include('profile must be drone');
    await writeFile(join(base, 'svc.yaml'), 'name: kite');
    expect(await applyCard(deps, signal)).to.equal(true);
    expect((await firstBootFile(deps.paths.firstBoot).load())?.parts).to.have.length(3);
  });
});

describe('the hotspot of the set-up', () => {
  const CARD: Device = {
    name: 'wlan0',
    carrier: 'wlan0',
    kind: 'wifi',
    mac: null,
    state: 'disconnected',
    connected: false,
    managed: true,
    uuid: null,
    addresses: [],
    gateway: null,
    metric: null,
    dns: [],
  };
  const CABLE: Device = { ...CARD, name: 'eth0', kind: 'ethernet', state: 'unavailable' };
  let base: string;
  let time: number;
  let abort: AbortController;
  let asked: string[];
  let view: HotspotView;
  let guests: number | Error;
  let at: [ms: number, change: () => void][];
  let deps: SetupHotspotDeps;

  beforeEach(async () => {
    base = await tempDir();
    time = 0;
    abort = new AbortController();
    asked = [];
    guests = 0;
    at = [];
    let paired = false;
    view = {
      enabled: false,
      running: false,
      ssid: 'SVC-A1B2',
      interface: null,
      address: null,
      channel: null,
      open: true,
      share_uplink: false,
    };
    const note = (what: string) => asked.push(`${Math.round(time / 1000)} s: ${what}`);
    const running = { running: true, interface: 'wlan0' };
    deps = {
      paths: { setupHotspot: join(base, 'setup-hotspot.json'), setup: join(base, 'setup.json') },
      enabled: true,
      country: null,
      port: () => 8080,
      paired: () => paired,
      isRadio: () => false,
      nmcli: {
        devices: async () => Promise.resolve([CARD, CABLE]),
        wifiProfiles: async () => Promise.resolve([]),
      },
      hotspot: {
        look: async () => Promise.resolve(view),
        openForSetup: async () => {
          note('on');
          view = { ...view, ...running };
          return Promise.resolve(view);
        },
        keep: async () => {
          note('kept');
          view = { ...view, enabled: true };
          return Promise.resolve();
        },
        end: async () => {
          note('off');
          view = { ...view, running: false, enabled: false, interface: null };
          return Promise.resolve();
        },
      },
      helper: {
        wifi_on: async () => Promise.resolve({ done: true }),
        captive_portal: async ({ enabled }) => {
          note(`captive ${enabled}`);
          return Promise.resolve({ done: true });
        },
      },
      guests: async () => (guests instanceof Error ? Promise.reject(guests) : Promise.resolve(guests)),
      bootId: 'boot-1',
      now: () => time,
      sleep: async (ms, signal) => {
        time += ms;
        for (const [when, change] of at.filter(([due]) => due <= time)) {
          at = at.filter((each) => each[0] !== when);
          change();
        }
        if (time > 60 * MINUTE) abort.abort();
        signal.throwIfAborted();
        return Promise.resolve();
      },
      log,
    };
    pair = () => {
      paired = true;
    };
  });
  let pair: () => void;
  afterEach(async () => removeDir(base));

  /** An hour of it. */
  const run = async (change: Partial<SetupHotspotDeps> = {}): Promise<readonly string[]> => {
    await new SetupHotspot({ ...deps, ...change }).run(abort.signal).catch((error: unknown) => {
      if (!abort.signal.aborted) throw error;
    });
    return asked;
  };

  it('is on where no network is known, off after 15 min without a guest, and on again with the next boot only', async () => {
    expect(await run()).to.deep.equal([
      '10 s: captive true',
      '10 s: on',
      '910 s: off',
      '910 s: captive false',
    ]);
    const again = async (bootId: string): Promise<readonly string[]> => {
      time = 0;
      asked = [];
      abort = new AbortController();
      return run({ bootId });
    };
    expect(await again('boot-1')).to.deep.equal([]);
    expect(await again('boot-2')).to.include('10 s: on');
  });

  it('goes on over a restart of the process without a pause for its guests, or ends if it was switched off meanwhile', async () => {
    at.push([5 * MINUTE, () => abort.abort()]);
    expect(await run()).to.deep.equal(['10 s: captive true', '10 s: on']);
    const again = async (change: Partial<SetupHotspotDeps>): Promise<readonly string[]> => {
      time = 0;
      asked = [];
      abort = new AbortController();
      return run(change);
    };
    at.push([5 * MINUTE, () => abort.abort()]);
    expect(await again({})).to.deep.equal([]);
    expect(await again({ enabled: false })).to.deep.equal(['0 s: off', '0 s: captive false']);
  });

  it('a guest keeps it on', async () => {
    guests = 1;
    at.push([30 * MINUTE, () => (guests = 0)]);
    expect((await run()).slice(2)).to.deep.equal(['2695 s: off', '2695 s: captive false']);
  });

  it('ends where guests cannot be counted', async () => {
    guests = new ApiError('E_NOT_IMPLEMENTED', 'This machine has no iw.');
    expect(await run()).to.include('910 s: off');
  });

  it('is not opened where a network is known, where somebody has opened one, without NetworkManager, or if it is switched off', async () => {
    const known = { name: 'Hall', ssid: 'Hall', hotspot: false, kind: 'wifi', uuid: 'u' } as never;
    const { nmcli } = deps;
    const wired = { ...CABLE, addresses: ['192.168.1.7/24'] };
    const none = async () => Promise.reject(new ApiError('E_NOT_IMPLEMENTED', 'no nmcli'));
    for (const change of [
      { nmcli: { ...nmcli, wifiProfiles: async () => Promise.resolve([known]) } },
      { nmcli: { ...nmcli, devices: async () => Promise.resolve([CARD, wired]) } },
      { nmcli: { ...nmcli, devices: none } },
      { nmcli: { ...nmcli, devices: async () => Promise.resolve([CABLE]) } },
      { isRadio: () => true },
      { enabled: false },
      { hotspot: { ...deps.hotspot, look: async () => Promise.resolve({ ...view, enabled: true }) } },
    ] satisfies Partial<SetupHotspotDeps>[]) {
      time = 0;
      abort = new AbortController();
      expect(await run(change)).to.deep.equal([]);
    }
  });

  it('waits for NetworkManager and for a cable; its own USB network is none', async () => {
    const usb = { ...CABLE, name: 'usb0', addresses: ['192.168.7.1/24', 'fe80::1/64'] };
    const connecting = { ...CABLE, uuid: 'u' };
    const devices = async (): Promise<readonly Device[]> => {
      if (time < 20_000) return Promise.reject(new ApiError('E_UPSTREAM_DOWN', 'not running'));
      return Promise.resolve([CARD, usb, ...(time < 30_000 ? [connecting] : [])]);
    };
    expect(await run({ nmcli: { ...deps.nmcli, devices } })).to.include('40 s: on');
  });

  it('once the node is paired: the open one ends when the set-up is finished', async () => {
    at.push([60_000, pair]);
    await writeFile(deps.paths.setup, JSON.stringify({ version: 1, finished_at: null, steps: {} }));
    at.push([
      120_000,
      () => {
        asked.push('finished');
      },
    ]);
    const finished = JSON.stringify({ version: 1, finished_at: '2026-01-01T00:00:00Z', steps: {} });
    const { sleep } = deps;
    const all = await run({
      sleep: async (ms, signal) => {
        await sleep?.(ms, signal);
        if (asked.at(-1) === 'finished') await writeFile(deps.paths.setup, finished);
      },
    });
    expect(all).to.deep.equal([
      '10 s: captive true',
      '10 s: on',
      'finished',
      '120 s: captive false',
      '120 s: off',
    ]);
  });

  it('once the node is paired: the open one ends after five minutes', async () => {
    at.push([60_000, pair]);
    expect((await run()).slice(2)).to.deep.equal(['360 s: captive false', '360 s: off']);
  });

  it('once the node is paired: one with a passphrase stays for good', async () => {
    view = { ...view, open: false };
    at.push([60_000, pair]);
    expect((await run()).slice(2)).to.deep.equal(['360 s: captive false', '360 s: kept']);
  });

  it('one that somebody keeps meanwhile is left alone, but for the answer to phones', async () => {
    at.push([60_000, () => (view = { ...view, enabled: true, open: false })]);
    at.push([40 * MINUTE, pair]);
    expect((await run()).slice(2)).to.deep.equal(['2700 s: captive false', '2700 s: kept']);
  });

  it('an open one that starts with the machine does not outlive a pairing, though it does not run', async () => {
    view = { ...view, enabled: true };
    pair();
    expect(await run()).to.deep.equal(['0 s: off']);
  });

  it('without svc-helper’s answer to phones it is there all the same', async () => {
    const helper = {
      ...deps.helper,
      captive_portal: async () => Promise.reject(new ApiError('E_UPSTREAM', 'nft')),
    };
    expect(await run({ helper })).to.include('10 s: on');
  });
});
