import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '@oclif/core';
import { EXTENSION } from '../places.ts';

/** By their ids: the words after `svc`, with colons between. */
type Commands = Readonly<Record<string, Command.Class>>;

const folder = join(import.meta.dirname, '../commands');
const files: readonly { readonly default: Commands }[] = await Promise.all(
  globSync(`*${EXTENSION}`, { cwd: folder }).map(async (file) => import(join(folder, file))),
);

/** All commands of `svc`: those of each file in `bin/commands/`, which is the first word of its commands. */
export default Object.fromEntries(files.flatMap(({ default: commands }) => Object.entries(commands)));
