import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readEnrolment } from '../../front/control/fleet/enrolment-file.ts';
import { PolicyStore } from '../../front/control/fleet/policy-store.ts';
import { GroundUi } from '../../front/control/ground/ground-ui.ts';
import { changeFile } from '../../front/control/radio/channel-change/change-file.ts';
import { PairStore } from '../../front/control/radio/pair-store.ts';
import { deviceId } from '../../front/control/stores/device-id.ts';
import { LivedTime } from '../../front/control/stores/lived-time.ts';
import { PairingStore } from '../../front/control/stores/pairing.ts';
import { PeerLocks } from '../../front/control/stores/peer-locks.ts';
import { OwnCertificates } from '../../front/control/tls/own-certificates.ts';
import { KeyStore } from '../../front/link/signing/key-store.ts';
import { ChosenFile } from '../../front/link/vehicle/chosen-file.ts';
import { ModemStore } from '../../front/machine/network/modem-store.ts';
import { NetworkStore } from '../../front/machine/network/network-store.ts';
import { PluginSettings } from '../../residual/app/plugins/settings.ts';
import { PluginStore } from '../../residual/app/plugins/store.ts';
import { SetupMarks } from '../../residual/app/setup/setup-marks.ts';
import { Ledger } from '../../residual/app/uploads/ledger.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { firstBootFile } from '../../shared/first-boot/record.ts';
import { turnFile } from '../../shared/fleet/turn-file.ts';
import { readRevocations } from '../../shared/plugins/signature.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { readActiveChoice } from '../../shared/radio-slots.ts';
import { PinNode, TestClocks } from './pin-stores.ts';
import { TokenNode } from './token-stores.ts';

interface Looked {
  /** Nobody has a right by it, and nothing of it is believed. */
  readonly closed: boolean;
  /** What was said. */
  readonly said: string;
}

interface Case {
  readonly name: string;
  readonly file: string;
  /** Makes a good file, by the store's own writer where it has one. */
  readonly make: (file: string) => Promise<unknown>;
  /** As the next process finds it. */
  readonly look: (file: string, log: Logger, told: () => string) => Promise<Looked>;
  /** Damage that is a valid file here. */
  readonly valid?: readonly string[];
}

/** With the code of the ApiError, null where nothing is refused. */
async function refusal(work: Promise<unknown>): Promise<{ readonly code: string | null }> {
  return work.then(
    () => ({ code: null }),
    (error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    },
  );
}

const clocks = new TestClocks();
const { now, monotonic, lived } = clocks;

/** A store of which every call fails, with a sentence that names the file. */
async function fails(work: () => Promise<unknown>): Promise<Looked> {
  return work().then(
    (value) => ({ closed: false, said: JSON.stringify(value ?? null) }),
    (error: unknown) => ({ closed: true, said: messageOf(error) }),
  );
}

/** As `fails`, of a reader whose caller names the file. */
const named = async (file: string, work: () => Promise<unknown>): Promise<Looked> => {
  const { closed, said } = await fails(work);
  return { closed, said: `${file} ${said}` };
};

const text =
  (content: string) =>
  async (file: string): Promise<void> =>
    writeFile(file, content, { mode: 0o600 });

/** Each store of the node's state, by its own writer and reader. */
export const STORES: readonly Case[] = [
  {
    name: 'the pairing',
    file: 'pairing.json',
    make: text('{"paired":true,"api_key":"svc_the-key","owner_id":"me","paired_at":1}\n'),
    look: async (file, log) => {
      const store = new PairingStore({ file, now, monotonic, log });
      await store.start();
      const claimed = await refusal(store.claim('thief', null, false));
      const closed = store.paired && store.key === null && claimed.code === 'E_PAIRED';
      await store.stop();
      return { closed, said: store.problem ?? '' };
    },
  },
  {
    name: 'the PIN',
    file: 'dashboard-pin.json',
    make: async (file) => (await PinNode.open(dirname(file))).pin.set('493817', { trusted: true }),
    look: async (file) => {
      const { pin } = await PinNode.open(dirname(file));
      const verified = await refusal(pin.verify('493817'));
      const first = await refusal(pin.set('1111', { trusted: false, gate: true }));
      const closed = pin.status().set && verified.code === 'E_STORE' && first.code === 'E_UNAUTHENTICATED';
      return { closed, said: pin.problem ?? '' };
    },
  },
  {
    name: 'sessions',
    file: 'sessions.json',
    make: async (file) => (await PinNode.open(dirname(file))).sessions.open(),
    look: async (file) => {
      const { sessions } = await PinNode.open(dirname(file));
      return { closed: sessions.size === 0, said: sessions.problem ?? '' };
    },
  },
  {
    name: 'scoped tokens',
    file: 'mcp-token.json',
    make: async (file) => new TokenNode(dirname(file)).mint(),
    look: async (file) => {
      const { store } = new TokenNode(dirname(file));
      const { tokens } = store.status();
      const minted = await refusal(
        store.mint({ label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] }),
      );
      return { closed: tokens.length === 0 && minted.code === 'E_STORE', said: store.problem ?? '' };
    },
  },
  {
    name: 'locks of peers',
    file: 'peer-locks.json',
    make: text('{"clock":"0123456789abcdef","locks":[]}\n'),
    look: async (file, log) => {
      const locks = new PeerLocks({ file, now, lived, log }, () => []);
      return { closed: (await locks.read()).length === 0, said: locks.problem ?? '' };
    },
  },
  {
    name: 'the lived time',
    file: 'lived-time.json',
    make: async (file) => livedAt(file, undefined),
    look: async (file, log) => ({ closed: true, said: (await livedAt(file, log)).problem ?? '' }),
  },
  {
    name: 'the id of the node',
    file: 'device-id',
    make: async (file) => deviceId(file),
    look: async (file) => {
      let said = '';
      const id = await deviceId(file, (sentence) => {
        said = sentence;
      });
      return { closed: /^[0-9a-f]{12}$/.test(id), said };
    },
  },
  {
    name: 'bound radios',
    file: 'radio-pairs.json',
    make: text('{"version":1,"pairs":[]}\n'),
    look: async (file, log) => {
      const store = new PairStore({ file, keys: join(dirname(file), 'keys'), log });
      await store.start();
      const changed = await refusal(store.change((radios) => radios));
      return { closed: store.list().length === 0 && changed.code === 'E_STORE', said: store.problem ?? '' };
    },
  },
  {
    name: 'the enrolment with a fleet',
    file: 'fleet.json',
    make: text('{"version":1,"hub":"https://hub","fleet":"f","node":"n"}\n'),
    look: async (file) => named(file, async () => readEnrolment(file, 'n')),
  },
  {
    name: "the fleet's policy",
    file: 'fleet-policy.json',
    make: text('{"jws":"a.b.c","proved":1}\n'),
    look: async (file, log, told) => {
      const store = new PolicyStore({ file, fleet: () => 'f', now, monotonic, log });
      await store.start();
      return { closed: store.isRevoked('anybody') && store.key('any') === null, said: told() };
    },
  },
  {
    name: 'settings of networks',
    file: 'network.json',
    make: async (file) => new NetworkStore(file).write({ share_uplink: true }),
    look: async (file) => fails(async () => new NetworkStore(file).read()),
  },
  {
    name: 'modems, and the PIN of a SIM that was refused',
    file: 'modems.json',
    make: async (file) => new ModemStore(file).trying('card', '1234'),
    look: async (file) => fails(async () => new ModemStore(file).wasTried('card', '1234')),
  },
  {
    name: 'screens and buttons',
    file: 'ground-station-ui.json',
    make: async (file) => new GroundUi(file).change({ oled: {}, buttons: { mapping: {} }, screens: {} }),
    look: async (file) => fails(async () => new GroundUi(file).read()),
    valid: ['{}'],
  },
  {
    name: 'the active drone',
    file: 'active-drone.json',
    make: text('{"version":1,"slot":2}\n'),
    look: async (file) => {
      let said = '';
      const choice = await readActiveChoice(file, (sentence) => {
        said = sentence;
      });
      return { closed: choice !== null && choice.slot === null, said };
    },
  },
  {
    name: 'a change of the channel',
    file: 'radio-change.json',
    make: text('{"id":"a","from":1,"to":36,"settled":null,"drones":[],"left":[]}\n'),
    look: async (file) => named(file, async () => changeFile(file).read()),
  },
  {
    name: 'the chosen vehicle',
    file: 'vehicle.json',
    make: text(
      '{"version":1,"source":"sim","system":1,"component":1,"autopilot":3,"type":2,"armed":false}\n',
    ),
    look: async (file, log, told) => ({
      closed: (await new ChosenFile(file, 'sim', log).load()) === null,
      said: told(),
    }),
  },
  {
    name: 'a signing key',
    file: 'signing/1-aa.json',
    make: text(`{"version":1,"vehicle":"1","key_id":"aa","link_id":1,"key_hex":"${'ab'.repeat(32)}"}\n`),
    look: async (file, log, told) => {
      const store = new KeyStore(dirname(file), log);
      await store.load();
      return { closed: store.keys.length === 0, said: told().replaceAll('1-aa.json', file) };
    },
  },
  {
    name: 'what was uploaded',
    file: 'uploads.json',
    make: text('{"version":1,"files":[]}\n'),
    look: async (file, log, told) => {
      const ledger = new Ledger(file, log);
      await ledger.read();
      return { closed: ledger.find('x') === undefined, said: told() };
    },
  },
  {
    name: 'the marks of the set-up',
    file: 'setup.json',
    make: text('{"version":1,"finished_at":"2026-01-01T00:00:00Z","steps":{}}\n'),
    look: async (file, log, told) => ({
      closed: (await SetupMarks.open(file, log)).now.finished_at === null,
      said: told(),
    }),
  },
  {
    name: 'the first boot',
    file: 'first-boot.json',
    make: text('{"version":1,"file":"svc.yaml","read_at":"2026","parts":null,"problem":null}\n'),
    look: async (file) => named(file, async () => firstBootFile(file).load()),
  },
  {
    name: 'credentials of TURN servers',
    file: 'fleet-turn.json',
    make: text('{"urls":[],"username":"u"}\n'),
    look: async (file) => named(file, async () => turnFile(file).read()),
  },
  {
    name: 'installed extensions',
    file: 'plugin-state.json',
    make: text('{"schema":1,"installs":[]}\n'),
    look: async (file) => fails(async () => new PluginStore(file).all()),
  },
  {
    name: 'settings of an extension',
    file: 'plugin-config/org.x.json',
    make: text('{"drone":{"a":1},"global":{}}\n'),
    look: async (file) => named(file, async () => new PluginSettings(dirname(file), 'org.x').read()),
    valid: ['{}'],
  },
  {
    name: 'revoked signers',
    file: 'plugin-revocations.json',
    make: text('["thief"]\n'),
    look: async (file) => fails(async () => readRevocations(file)),
    valid: ['[]'],
  },
  {
    name: 'the authority of HTTPS',
    file: 'tls-authority.pem',
    make: async (file) => authorityAt(file).open('svc', ['svc.local'], false),
    look: async (file) => fails(async () => authorityAt(file).open('svc', ['svc.local'], false)),
  },
];

async function livedAt(file: string, log: Logger | undefined): Promise<LivedTime> {
  const boot = (): { boot_id: string; uptime: number } => ({ boot_id: 'a', uptime: 1 });
  const store = new LivedTime({
    file,
    monotonic,
    boot,
    now,
    isSynchronized: () => false,
    log: log ?? logInto([]),
  });
  await store.start();
  await store.stop();
  return store;
}

function authorityAt(file: string): OwnCertificates {
  return new OwnCertificates({ authority: file, leaf: `${file}.leaf` }, now);
}

export function logInto(lines: string[]): Logger {
  const line = (sentence: unknown): void => void lines.push(String(sentence));
  return { error: line, warn: line, info: line, debug: line } as unknown as Logger;
}
