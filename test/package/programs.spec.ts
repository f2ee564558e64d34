import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkPrograms, foreign, readElf } from '../../deploy/package/elf.ts';
import { neededFrom } from '../../deploy/package/needed-libraries.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** The start of an ELF file; big-endian has its numbers the other way round. */
function elf(bits: 32 | 64, machine: number, bigEndian = false): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF', 'latin1');
  bytes[4] = bits === 64 ? 2 : 1;
  bytes[5] = bigEndian ? 2 : 1;
  if (bigEndian) bytes.writeUInt16BE(machine, 18);
  else bytes.writeUInt16LE(machine, 18);
  return bytes;
}
const [X86, X86_64, ARM, AARCH64] = [3, 62, 40, 183];

describe('programs of a package', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const each of folders.splice(0)) await removeDir(each);
  });
  const fresh = async (): Promise<string> => {
    const folder = await tempDir();
    folders.push(folder);
    return folder;
  };

  it('an ELF header is read for its bits and its machine, in both byte orders', () => {
    expect(readElf(elf(64, X86_64))).to.deep.equal({ bits: 64, machine: X86_64 });
    expect(readElf(elf(32, ARM, true))).to.deep.equal({ bits: 32, machine: ARM });
    expect(readElf(Buffer.from('#!/bin/sh\nexit 0 and more'))).to.equal(null);
    expect(readElf(Buffer.from('\x7fELF', 'latin1'))).to.equal(null);
  });

  it('what is for another machine, another word length or another system is foreign', () => {
    expect(foreign(elf(64, X86_64), 'amd64')).to.equal(null);
    expect(foreign(elf(64, AARCH64), 'arm64')).to.equal(null);
    expect(foreign(elf(64, AARCH64), 'amd64')).to.equal('a 64-bit program of machine 183');
    expect(foreign(elf(32, X86), 'amd64')).to.equal('a 32-bit program of machine 3');
    // x32: the machine of amd64 with 32 bits.
    expect(foreign(elf(32, X86_64), 'amd64')).to.equal('a 32-bit program of machine 62');
    expect(foreign(Buffer.from('MZ\x90\x00', 'latin1'), 'amd64')).to.equal('a program of Windows');
    expect(foreign(Buffer.from('cffaedfe', 'hex'), 'arm64')).to.equal('a program of macOS');
    expect(foreign(Buffer.from('export {};'), 'arm64')).to.equal(null);
  });

  it('the check names every foreign file, wherever it lies and whatever it is called', async () => {
    const folder = await fresh();
    await mkdir(join(folder, 'a/b'), { recursive: true });
    await writeFile(join(folder, 'a/ours.node'), elf(64, AARCH64));
    await writeFile(join(folder, 'a/text.js'), '// nothing');
    expect(await checkPrograms(folder, 'arm64')).to.deep.equal(['a/ours.node']);
    await writeFile(join(folder, 'a/b/data.bin'), elf(32, ARM));
    await writeFile(join(folder, 'other.node'), elf(64, X86_64));
    await chmod(join(folder, 'other.node'), 0o644);
    const error: unknown = await checkPrograms(folder, 'arm64').catch((reason: unknown) => reason);
    expect(String(error)).to.include('a/b/data.bin is a 32-bit').and.include('other.node is a 64-bit');
  });

  it('what is needed of the C libraries is the newest version of a symbol that any program imports', () => {
    const told = [
      'GLIBC_2.9',
      'GLIBC_2.28',
      'GLIBC_PRIVATE',
      'GLIBCXX_3.4',
      'GLIBCXX_3.4.22',
      'CXXABI_1.3.11',
    ]
      .map((name) => `  0x0010:   Name: ${name}  Flags: none  Version: 7`)
      .join('\n');
    expect(neededFrom(told)).to.deep.equal({
      glibc: '2.28',
      depends: ['libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 7)'],
    });
    expect(() => neededFrom('Name: GLIBC_2.28\nName: GLIBCXX_3.4.99')).to.throw('GLIBCXX_3.4.99');
  });
});
