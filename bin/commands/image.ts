import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Args, Command, Flags } from '@oclif/core';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { readImageComment } from '../../shared/update/image-comment.ts';
import { installPlaces } from '../../shared/update/install-places.ts';
import { digestOf, type PublicKey, parsePublicKey, verifyText } from '../../shared/update/minisign.ts';
import { EXIT } from '../cli/exit-codes.ts';

interface Verified {
  readonly version: string;
  readonly board: string;
  readonly suite: string;
}

class ImageVerifyCommand extends Command {
  static override summary = 'Whether an image for a memory card is whole, and who has signed it.';
  static override description =
    'Reads FILE and FILE.minisig. Whom to believe: --key, else the keys that this machine takes updates from.';
  static override enableJsonFlag = true;
  static override examples = [
    '<%= config.bin %> image verify svc_2.0.0_pi_bookworm.img.xz --board pi --key release.pub',
  ];
  static override args = {
    file: Args.string({ description: 'the image', required: true, ignoreStdin: true }),
  };
  static override flags = {
    key: Flags.string({ summary: 'a public key of minisign, as a file', helpValue: 'FILE' }),
    board: Flags.string({ summary: 'the board that it has to be for', helpValue: 'NAME' }),
  };

  async run(): Promise<Verified> {
    const { args, flags } = await this.parse(ImageVerifyCommand);
    const keys = await this.#keys(flags.key);
    const signature = await this.#read(`${args.file}.minisig`);
    const refuse = (sentence: string): never =>
      this.error(`${args.file}: ${sentence}`, { exit: EXIT.refused });
    const digest = await digestOf(args.file).catch((error: unknown) => this.#unread(args.file, error));
    let comment = '';
    try {
      comment = verifyText(digest, signature, keys);
    } catch (error) {
      refuse(messageOf(error));
    }
    const found = readImageComment(comment) ?? refuse(`What is signed is no image of svc: ${comment}`);
    if (flags.board !== undefined && flags.board !== found.board)
      refuse(`It is for ${found.board}, not for ${flags.board}.`);
    this.log(`Whole, and signed: svc ${found.version} for ${found.board}, on Debian ${found.suite}.`);
    return found;
  }

  async #keys(file: string | undefined): Promise<readonly PublicKey[]> {
    const folder = installPlaces().keys;
    const own = (): Promise<string[]> =>
      readdir(folder).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      });
    const files =
      file === undefined
        ? (await own()).filter((name) => name.endsWith('.pub')).map((name) => join(folder, name))
        : [file];
    if (files.length === 0)
      this.error('This machine has no key of a release. Give one: --key FILE', { exit: EXIT.usage });
    return Promise.all(
      files.map(async (path) => {
        const text = await this.#read(path);
        try {
          return parsePublicKey(text);
        } catch (error) {
          return this.error(`${path}: ${messageOf(error)}`, { exit: EXIT.usage });
        }
      }),
    );
  }

  async #read(path: string): Promise<string> {
    return readFile(path, 'utf8').catch((error: unknown) => this.#unread(path, error));
  }

  #unread(path: string, error: unknown): never {
    const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    return this.error(`${path}: ${why}`, { exit: EXIT.usage });
  }
}

export default { 'image:verify': ImageVerifyCommand };
