import { mkdir } from 'node:fs/promises';
import { Command, Config, settings } from '@oclif/core';
import { expect } from 'chai';
import { demoFolder } from '../../bin/places.ts';
import { ROOT } from '../support/node.ts';
import { removeDir } from '../support/temp.ts';

const DEMO = `flags-${process.pid}`;
/** Values for flags that have no choices and do not take just any text. */
const FITTING: Readonly<Record<string, string>> = { demo: DEMO, via: 'here/0123456789abcdef' };
const NUMBER = '3';

type Parse = (...args: readonly unknown[]) => Promise<unknown>;
/** What is used of a command's class, with what oclif keeps for its heirs. */
interface Runnable {
  new (
    argv: string[],
    config: Config,
  ): { init(): Promise<unknown>; parse: Parse; catch(error: Error): unknown };
  run(argv: readonly string[], config: Config): Promise<unknown>;
}

class Parsed extends Error {}

/** The command, which ends as soon as `run` has understood its arguments. */
function untilParsed(command: Command.Class): Runnable {
  return class extends (command as unknown as Runnable) {
    #running = false;

    override async init(): Promise<void> {
      await super.init();
      this.#running = true;
    }

    override parse: Parse = async (...args) => {
      const parsed = await (Command.prototype as unknown as { readonly parse: Parse }).parse.apply(this, [
        ...args,
      ]);
      if (this.#running) throw new Parsed();
      return parsed;
    };

    override catch(error: Error): never {
      throw error;
    }
  };
}

settings.enableAutoTranspile = false;
const config = await Config.load(ROOT);

describe('every flag that the help of a command shows', () => {
  before(async () => mkdir(`${demoFolder(DEMO)}/etc`, { recursive: true }));
  after(async () => removeDir(demoFolder(DEMO)));

  for (const loadable of config.commands.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    it(`svc ${loadable.id.replaceAll(':', ' ')} takes each of its own`, async () => {
      const command = untilParsed(await loadable.load());
      const given = Object.values(loadable.args).flatMap(({ required, options }) =>
        required === true ? [options?.[0] ?? NUMBER] : [],
      );
      const valueOf = (name: string): string[] => {
        const flag = loadable.flags[name];
        return flag?.type === 'option' ? [FITTING[name] ?? flag.options?.[0] ?? NUMBER] : [];
      };
      const flags = Object.values(loadable.flags).filter(({ hidden }) => hidden !== true);
      const needed = flags.filter(({ required }) => required === true).map(({ name }) => name);
      const exitCode = process.exitCode;
      for (const { name, dependsOn = [] } of flags) {
        const words = [...new Set([...needed, ...dependsOn, name])].flatMap((each) => [
          `--${each}`,
          ...valueOf(each),
        ]);
        const ended: unknown = await command
          .run([...given, ...words], config)
          .catch((error: unknown) => error);
        expect(ended, `${words.join(' ')}: ${String(ended)}`).to.be.instanceOf(Parsed);
      }
      process.exitCode = exitCode;
    });
  }
});
