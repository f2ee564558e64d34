/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page, Route } from 'playwright-core';
import { parseJson, recordOf } from '../../shared/member.ts';
import { noBrowser, openBrowser, openPage, signIn, visit } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { entryOf, OPERATOR, StubHub } from '../support/stub-hub.ts';

/** Names of messages that say that there is nothing, or that something is not known. */
const EMPTY = /^(?:none|empty|nothing|unknown|checksNone|no[A-Z]\w*)$/;

/** Those sentences of a catalogue, by their place in it; without those that have gaps. */
function emptySentences(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const read = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'string') {
      if (EMPTY.test(path.at(-1) ?? '') && !value.includes('{') && value.length > 3)
        found.set(value, path.join('.'));
    } else for (const [name, inner] of Object.entries(recordOf(value))) read(inner, [...path, name]);
  };
  read(parseJson(readFileSync(join(ROOT, `residual/web/src/locales/en/${file}.json`), 'utf8')), []);
  return found;
}

/** What waits for nothing but the vehicle: where the node is silent, the banner above the page says so. */
const OF_VEHICLE = /vehicle\/(?:setup\/(?:radio|modes|motors|failsafes)|logs\/messages)$/;
/** A simulated vehicle at rest has it to say. */
const HEARD = 'No clipping. Below 30 m/s² is good.';

/** What becomes of the questions of a page. */
type Fate = 'answered' | 'held' | 'lost';

/** A page whose questions are answered, or not. */
class SlowPage {
  readonly page: Page;
  fate: Fate = 'answered';
  readonly #held = new Set<Route>();

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(page: Page, asked: RegExp): Promise<SlowPage> {
    const slow = new SlowPage(page);
    await page.route(asked, async (route) => {
      if (slow.fate === 'answered') await route.continue();
      else if (slow.fate === 'lost') await route.abort();
      else slow.#held.add(route);
    });
    return slow;
  }

  /** Those that wait get their answers. */
  async answer(): Promise<void> {
    this.fate = 'answered';
    await Promise.allSettled([...this.#held].map(async (route) => route.continue()));
    this.#held.clear();
  }
}

/** Goes to every page, tab and section, by what stands on them. @param look at each, once it is drawn */
async function walk(page: Page, look: (where: string) => Promise<void>): Promise<void> {
  const drawn = async (): Promise<void> => {
    await page.waitForFunction(() => document.querySelector('main > h1 + :not(.first)') !== null, undefined, {
      polling: 50,
    });
    await page.evaluate(async () => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  };
  const seen = async (): Promise<void> => look(new URL(page.url()).hash);
  const each = async (selector: string, then: () => Promise<void>): Promise<void> => {
    const links = page.locator(selector);
    const count = await links.count();
    if (count === 0) return then();
    for (let at = 0; at < count; at++) {
      await links.nth(at).click();
      await links.nth(at).and(page.locator('[aria-current=page], [aria-selected=true]')).waitFor();
      await drawn();
      await then();
    }
  };
  await each('nav.rail a', async () =>
    each('main [role=tablist] [role=tab]', async () => each('main nav a[href^="#/"]', seen)),
  );
}

describe('a page that waits for its answers', function () {
  this.timeout(240_000);
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    browser = await openBrowser('chromium', { deaf: true });
  });
  after(async () => browser?.close());

  /** Sentences of the empty kind that are to be seen. */
  const emptyOn = async (page: Page, sentences: ReadonlyMap<string, string>): Promise<readonly string[]> => {
    const shown = await page.$eval('main', (main) => ({
      marked: [...main.querySelectorAll('[data-empty]')].map(({ textContent }) => textContent),
      lines: [...main.querySelectorAll(':not(select, option, :has(> *))')].map(
        ({ textContent }) => textContent,
      ),
    }));
    return [...shown.marked, ...shown.lines.filter((line) => sentences.has(line.trim()))];
  };
  const bars = async (page: Page): Promise<number> => page.locator('main .awaited').count();

  for (const name of ['node', 'hub'] as const)
    it(`of the ${name} says nothing of what it does not know yet, and where it failed that it did`, async () => {
      await using slow = name === 'node' ? await aNode() : await aHub();
      const { page } = slow;
      const sentences = emptySentences(name === 'node' ? 'page' : 'hub');
      const waiting = new Set<string>();
      const wrong: string[] = [];
      const say = (where: string, what: string): unknown => wrong.push(`${slow.fate}, ${where}: ${what}`);
      slow.fate = 'held';
      await walk(page, async (where) => {
        for (const each of await emptyOn(page, sentences)) say(where, each);
        if ((await bars(page)) > 0 && !OF_VEHICLE.test(where)) waiting.add(where);
      });
      expect(wrong).to.deep.equal([]);
      expect(waiting.size).to.be.at.least(name === 'node' ? 20 : 3);
      slow.fate = 'lost';
      await walk(page, async (where) => {
        if (!waiting.has(where)) return;
        const again = page.getByRole('button', { name: 'Try again', exact: true }).first();
        await again.waitFor().catch(() => say(where, 'no way to try again'));
        for (const each of await emptyOn(page, sentences)) say(where, each);
      });
      expect(wrong).to.deep.equal([]);
    });

  it('says nothing of a vehicle that is heard before its parameters are', async () => {
    await using slow = await aNode(true);
    const { page } = slow;
    const sentences = emptySentences('page');
    await page.getByText('Disarmed').first().waitFor();
    slow.fate = 'held';
    for (const where of ['vehicle/overview', 'vehicle/setup/modes', 'vehicle/setup/failsafes', 'plan']) {
      await visit(page, where);
      const said = await emptyOn(page, sentences);
      expect(
        said.filter((each) => each !== HEARD),
        where,
      ).to.deep.equal([]);
      expect(await bars(page), where).to.be.at.least(1);
    }
    await visit(page, 'vehicle/overview');
    await slow.answer();
    await page.getByText('At least one failsafe is off.').waitFor();
  });

  it('says after its time that there was no answer, and asks again', async () => {
    await using slow = await aNode();
    const { page } = slow;
    await page.clock.install();
    await visit(page, 'access/programs');
    const none = page.getByText('No program has access.');
    await none.waitFor();
    slow.fate = 'held';
    await visit(page, 'access/fleet');
    await visit(page, 'access/programs');
    await page.locator('main .awaited').first().waitFor({ state: 'attached' });
    await page.clock.fastForward('01:00');
    await page.getByText('The node took too long.').waitFor();
    expect(await none.count()).to.equal(0);
    await slow.answer();
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await none.waitFor();
  });

  async function aNode(isHeard = false): Promise<SlowPage & AsyncDisposable> {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const page = await openPage(browser);
    page.setDefaultTimeout(10_000);
    const slow = await SlowPage.open(page, /\/api\//);
    if (!isHeard) await page.routeWebSocket(/telemetry/, () => undefined);
    await signIn(page, node.url, KEY);
    return Object.assign(slow, {
      [Symbol.asyncDispose]: async () => {
        await page.context().close();
        await node.stop();
      },
    });
  }

  async function aHub(): Promise<SlowPage & AsyncDisposable> {
    const hub = await StubHub.start([entryOf(1), entryOf(2)]);
    const page = await openPage(browser);
    page.setDefaultTimeout(10_000);
    const slow = await SlowPage.open(page, /\/v1\//);
    await page.goto(`${hub.url}/`);
    await page.locator('input[name=secret]').fill(OPERATOR);
    await page.locator('form button[type=submit]').click();
    await page.waitForSelector('nav a.to-audit');
    return Object.assign(slow, {
      [Symbol.asyncDispose]: async () => {
        await page.context().close();
        await hub.stop();
      },
    });
  }
});
