import { networkInterfaces } from 'node:os';
import type { Config } from '../../../shared/config/schema.ts';
import { messageOf } from '../../../shared/errors.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Profile } from '../../../shared/profile.ts';
import { askLinkState } from '../../../shared/rpc/ask-link-state.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import type { EngineStatus } from '../../../shared/rpc/video.ts';
import type { ConfigStore } from '../config/store.ts';

/** A fact, or why it is not known. */
export type Fact<T> = { readonly is: T } | { readonly unknown: string };

/** What the node sees of itself, for the steps of the set-up. */
export interface NodeFacts {
  /** As it is in the file now. */
  readonly config: Config;
  /** The profile that this process was started with. */
  readonly running: Profile;
  /** The file says it, it is not only the default. */
  readonly chosen: { readonly profile: boolean; readonly region: boolean };
  readonly pin: Fact<boolean>;
  readonly link: Fact<LinkState>;
  readonly video: Fact<EngineStatus>;
  /** How many radios are bound. */
  readonly radios: Fact<number>;
  /** `eth0 192.168.1.7`: the addresses that others can reach this node by. */
  readonly addresses: readonly string[];
  readonly paired: Fact<boolean>;
}

export interface FactSources {
  readonly paths: Pick<Paths, 'pairing' | 'dashboardPin' | 'radioPairs' | 'linkSocket'>;
  readonly config: ConfigStore;
  readonly running: Profile;
  readonly video: () => Fact<EngineStatus>;
}

const MAX_FILE_BYTES = 256 * 1024;

/** Looks at everything anew. Takes up to a second if svc-link does not answer. */
export async function lookAround({ paths, config, running, video }: FactSources): Promise<NodeFacts> {
  return {
    config: await config.read(),
    running,
    chosen: { profile: await config.has('agent.profile'), region: await config.has('radio.region') },
    // The file stays when the PIN was cleared, without a hash.
    pin: await fromFile(paths.dashboardPin, false, ({ pin_hash: hash }) => hash !== null),
    link: await askLinkState(paths.linkSocket).then(
      (is) => ({ is }),
      (error: unknown) => ({ unknown: messageOf(error) }),
    ),
    video: video(),
    radios: await fromFile(paths.radioPairs, 0, ({ pairs }) => (Array.isArray(pairs) ? pairs.length : 0)),
    addresses: ownAddresses(),
    paired: await fromFile(paths.pairing, false, ({ paired }) => paired !== false),
  };
}

/** A fact in another process's file of JSON. @param none the fact while there is no file */
async function fromFile<T>(file: string, none: T, read: (record: JsonObject) => T): Promise<Fact<T>> {
  try {
    const text = await readPrivate(file, MAX_FILE_BYTES);
    return { is: text === null ? none : read(recordOf(parseJson(text))) };
  } catch (error) {
    return { unknown: messageOf(error) };
  }
}

function ownAddresses(): readonly string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      // A link-local IPv6 address says only that there is a cable or a neighbour.
      .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
      .map(({ address }) => `${name} ${address}`),
  );
}
