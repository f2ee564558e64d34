import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';
import { SIGNER_ID } from '../../shared/plugins/signature.ts';

const SECRET = 0o600;
const PUBLIC = 0o644;

export interface KeyFiles {
  readonly signer: string;
  /** The file to keep. */
  readonly private_key: string;
  /** The file for the nodes that are to trust this signer. */
  readonly public_key: string;
}

/** Makes an Ed25519 key pair: `<signer>.key.pem` for its owner alone, and `<signer>.pem` for everybody. */
export async function makeKeys(signer: string, folder: string, force: boolean): Promise<KeyFiles> {
  requireSigner(signer);
  await mkdir(folder, { recursive: true });
  const files = {
    signer,
    private_key: join(folder, `${signer}.key.pem`),
    public_key: join(folder, `${signer}.pem`),
  };
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' });
  if (force) await writeAtomic(files.private_key, secret, SECRET);
  else await writeNew(files.private_key, secret);
  await writeAtomic(files.public_key, publicKey.export({ type: 'spki', format: 'pem' }), PUBLIC);
  return files;
}

/** A key that is lost cannot be made again. */
async function writeNew(path: string, text: string | Buffer): Promise<void> {
  const handle = await open(path, 'wx', SECRET).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new PluginRefusal(
      'usage_error',
      `${path} is there already. What it has signed needs it; --force replaces it.`,
      {},
      { cause: error },
    );
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function readPrivateKey(path: string): Promise<KeyObject> {
  try {
    const key = createPrivateKey(await readFile(path));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw new PluginRefusal(
      'usage_error',
      `${path} is no private key: ${messageOf(error)}`,
      {},
      { cause: error },
    );
  }
  throw new PluginRefusal('usage_error', `${path} is no Ed25519 key. Make one with svc plugin keygen.`);
}

export function requireSigner(signer: string): void {
  if (!SIGNER_ID.test(signer))
    throw new PluginRefusal(
      'usage_error',
      `${JSON.stringify(signer)} cannot be the id of a signer: up to 64 letters, digits, dots, underscores and hyphens.`,
    );
}
