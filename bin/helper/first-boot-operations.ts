import { constants } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OWN_ADDRESS } from '../../shared/auth/address.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { withoutSecrets } from '../../shared/first-boot/card-file.ts';
import { MAX_CARD_BYTES } from '../../shared/first-boot/card-places.ts';
import type { ParamsOf } from '../../shared/rpc/contract.ts';
import type { HELPER } from '../../shared/rpc/helper.ts';
import type { Run } from './find-program.ts';

type Params<M extends keyof (typeof HELPER)['methods']> = ParamsOf<typeof HELPER, M>;

const PROGRAM_MS = 5000;
const HTTP_PORT = 80;
/** In the folder whose files NetworkManager gives the dnsmasq of each hotspot. */
const DNS_FILE = 'svc-captive.conf';
const DNS = `# Written by svc-helper while the node is not paired: every name is this node, so that phones open its page.
address=/#/${OWN_ADDRESS.hotspot}
# No other record of any of them: without this it refuses to say, and phones ask again and again.
local=/#/
`;
const TABLE = 'ip svc_captive';

/** What the first boot needs root for. */
export class FirstBootOperations {
  readonly #run: Run;
  readonly #sharedDns: string;
  readonly #cards: readonly string[];

  /** @param places `sharedDns`: NetworkManager's dnsmasq-shared.d; `cards`: the files of the boot partition, absolute */
  constructor(run: Run, places: { readonly sharedDns: string; readonly cards: readonly string[] }) {
    this.#run = run;
    this.#sharedDns = places.sharedDns;
    this.#cards = places.cards;
  }

  /** For hotspots that start from now on; the firewall's part counts at once. */
  async captive({ enabled, port }: Params<'captive_portal'>): Promise<void> {
    const file = join(this.#sharedDns, DNS_FILE);
    if (!enabled) await rm(file, { force: true });
    else if (await isFolder(this.#sharedDns)) await writeAtomic(file, DNS, 0o644);
    // Made and removed in one transaction, so that it may be there already or not.
    const without = `add table ${TABLE}; delete table ${TABLE};`;
    const own = Object.values(OWN_ADDRESS).join(', ');
    const chain = 'type nat hook prerouting priority dstnat;';
    const rule = `ip daddr { ${own} } tcp dport ${HTTP_PORT} redirect to :${port}`;
    const rules = enabled && port !== HTTP_PORT ? ` table ${TABLE} { chain in { ${chain} ${rule}; }; };` : '';
    await this.#run('nft', [without + rules], PROGRAM_MS);
  }

  /** A Raspberry Pi keeps Wi-Fi off until somebody has named the country. */
  async wifiOn({ country }: Params<'wifi_on'>): Promise<void> {
    await this.#run('nmcli', ['radio', 'wifi', 'on'], PROGRAM_MS);
    if (country !== null) await this.#run('iw', ['reg', 'set', country], PROGRAM_MS);
  }

  /** Takes the passphrases out of the card's files. @throws ApiError E_STORE with the file that still has them */
  async done(): Promise<void> {
    for (const file of this.#cards) {
      const handle = await openCard(file);
      if (handle === null) continue;
      try {
        await overwrite(handle);
      } catch (error) {
        throw new ApiError('E_STORE', `${file} still has its passphrases: ${messageOf(error)}. Remove them.`);
      } finally {
        await handle.close();
      }
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null; // this machine has no NetworkManager
    throw error;
  });
  return found !== null;
}

async function openCard(file: string): Promise<FileHandle | null> {
  return open(file, constants.O_RDWR | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new ApiError('E_STORE', `${file} still has its passphrases (${error.code}). Remove them.`);
  });
}

/**
 * In place, where the bytes of the passphrases are: a new file would leave them in a free part of the card. What a power cut
 * leaves half-written is read by nobody: the node has noted that it is done with the file.
 */
async function overwrite(handle: FileHandle): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size > MAX_CARD_BYTES) throw new Error('it is no small file');
  const bytes = Buffer.from(withoutSecrets(await handle.readFile('utf8')));
  await handle.write(bytes, 0, bytes.length, 0);
  await handle.sync();
}
