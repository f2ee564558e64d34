import { arch } from 'node:os';
import type { AgentHalf } from './manifest.ts';
import { PluginRefusal } from './refusal.ts';

/** What others call Node's own names of processors. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  x64: ['x86_64', 'amd64'],
  arm64: ['aarch64'],
  arm: ['armv7'],
};

/**
 * The file in the archive that is started on this machine: the entry point itself, or the program that `bin:<name>` has for this
 * processor. @throws PluginRefusal incompatible if there is none
 */
export function entrypointOf({ entrypoint, binaries }: AgentHalf): string {
  if (entrypoint.startsWith('bin:')) {
    const name = entrypoint.slice('bin:'.length);
    const programs = binaries[name] ?? {};
    for (const machine of [arch(), ...(OTHER_NAMES[arch()] ?? [])]) {
      const path = programs[`${machine}-linux`];
      if (path !== undefined) return path;
    }
    throw new PluginRefusal(
      'incompatible',
      `It brings ${name} for ${Object.keys(programs).join(', ') || 'no machine'}; this one is ${arch()}-linux.`,
    );
  }
  if (entrypoint.includes(':'))
    throw new PluginRefusal(
      'incompatible',
      `Its entry point ${entrypoint} is a class for another host. This one starts a file.`,
    );
  return entrypoint;
}
