import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { CleanMachine, type Left, type Toolchain } from '../support/clean-machine.ts';
import { noMachines } from '../support/machine.ts';
import { freePort } from '../support/temp.ts';

/** The oldest; the newest; and one that came before npm read `allowScripts`, for the tests, too. */
const COMMON: Toolchain = { node: '20.19.5', npm: '10.8.2' };
const TOOLCHAINS: readonly (readonly [Toolchain, user: 'pilot' | 'root'])[] = [
  [{ node: '20.5.0', npm: '9.8.1' }, 'pilot'],
  [{ node: '24.21.0', npm: '11.19.1' }, 'root'],
  [COMMON, 'pilot'],
];

/** The folder in which `.ci/run` wants what `npm test` prints, as `clean`. */
const told = process.env['SVC_TEST_CLEAN'];
const evidence = process.env['SVC_EVIDENCE'];

/** Starts the node, asks for its page, and ends it as systemd would: by SIGTERM to npm alone. */
const start = (port: number): string => `
  mkdir -p .svc/etc; printf 'api:\\n  port: ${port}\\nmavlink:\\n  source: sim\\n' >.svc/etc/config.yaml
  npm start >start.log 2>&1 & npm=$!
  node -e "
    const at = Date.now();
    (async () => {
      for (;;) {
        const page = await fetch('http://localhost:${port}/').catch(() => null);
        if (page?.status === 200) return console.log('page:', (await page.text()).includes('<html'));
        if (Date.now() - at > 120000) throw new Error('no page');
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })()" || cat start.log
  kill $npm; for i in $(seq 100); do kill -0 $npm 2>/dev/null && sleep 0.1; done
  echo left: $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c '[s]upervisor/main')`;

describe("README's two commands, on a Debian 12 that has nothing but Node", function () {
  this.timeout(3_600_000); // on a slow machine, beside everything else
  let machine: CleanMachine;
  let tried: ReadonlyMap<Toolchain, { readonly installed: Left; readonly started: Left }>;
  before(async function () {
    if ((await noMachines()) !== null) return this.skip();
    machine = await CleanMachine.create();
    // At once: most of the time each of them waits, for the registry or for itself.
    tried = new Map(
      await Promise.all(
        TOOLCHAINS.map(async ([toolchain, user]) => {
          await machine.install(toolchain);
          await machine.checkOut(toolchain);
          const installed = await machine.shell(toolchain, 'npm ci', user);
          const started = await machine.shell(toolchain, start(await freePort()), user);
          return [toolchain, { installed, started }] as const;
        }),
      ),
    );
  });
  after(async () => machine?.destroy());

  for (const [toolchain, user] of TOOLCHAINS)
    it(`npm ci && npm start, with Node ${toolchain.node} and npm ${toolchain.npm}, as ${user}`, () => {
      const { installed, started } = tried.get(toolchain) ?? {};
      expect(installed?.code, installed?.output).to.equal(0);
      expect(installed?.output.split('\n').length, installed?.output).to.be.lessThan(20);
      expect(started?.output).to.include('page: true');
      // npm 9 tells its child nothing; the end of the machine ends it.
      if (!toolchain.npm.startsWith('9.')) expect(started?.output).to.include('left: 0');
    });

  it('npm test passes, and says in one line what the skipped tests need', async () => {
    const lists = 'SVC_TEST_FAILED=$HOME/failed SVC_TEST_SKIPPED=$HOME/skipped SVC_EVIDENCE=$HOME';
    // Two files at once: in `.ci/run` the end-to-end tests run beside it.
    const few = "MOCHA_OPTIONS='--jobs 2'";
    let { code, output } = await machine.shell(COMMON, `touch ~/failed ~/skipped; ${lists} ${few} npm test`);
    expect(output).to.match(/^Skipped tests need what this machine lacks: root, .*ip.*mosquitto/m);
    if (told !== undefined) await writeFile(join(told, 'clean'), output);
    if (evidence !== undefined) {
      await mkdir(evidence, { recursive: true });
      await writeFile(join(evidence, 'tests.json'), await machine.read('tests.json'));
    }
    // Not as lines of this run: `.ci/run` counts those.
    const failures = output.slice(output.search(/^ {2}\d+ passing/m)).replaceAll(/^/gm, '| ');
    const failed = (await machine.read('failed')).split('\n').filter((file) => file !== '');
    // A machine with two cores runs three at once, now and then one waits too long for another.
    if (failed.length > 0 && failed.length <= 8)
      ({ code, output } = await machine.shell(COMMON, `npm run test:alone -- ${failed.join(' ')}`));
    expect(code, `${failures}${output.replaceAll(/^/gm, '| ')}`).to.equal(0);
    const sorted = (text: string): readonly string[] => text.match(/^test\/.+$/gm)?.toSorted() ?? [];
    expect(sorted(await machine.read('skipped'))).to.deep.equal(
      sorted(await readFile(join(import.meta.dirname, 'skipped-there.txt'), 'utf8')),
    );
  });
});
