/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { radioQuality } from '../../shared/radio/quality.ts';
import { checkAxe, noBrowser, openBrowser, openPage, PHONE, type Watch, watch } from '../support/browser.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

/** A simulated vehicle is flown from the page; what it really did is asked over the API. */
describe('flying from the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([TestNode.start(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  beforeEach(async () => {
    page = await openPage(browser);
    seen = watch(page, node.url);
    await page.goto(`${node.url}/#/fly`);
    await says('eady to arm'); // after the flight it is not
  });
  afterEach(async () => page?.close());

  const says = async (text: string, timeout = 30_000): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, {
      polling: 100,
      timeout,
    });
  };
  /** Presses a button until the page says that the command is under way; again where what is above it grew and moved it away. */
  const hold = async (name: string): Promise<void> => {
    for (let press = 1; ; press++) {
      await page.getByRole('button', { name, exact: true }).hover({ timeout: 10_000 });
      await page.mouse.down();
      try {
        await says(`${name}: `, 5000);
        return;
      } catch (error) {
        if (press === 3) throw error;
      } finally {
        await page.mouse.up();
      }
    }
  };
  const now = async (): Promise<Record<string, unknown>> => (await node.json('/api/telemetry')).body;
  const command = async (cmd: string, ...args: string[]): Promise<void> => {
    const { status, body } = await node.post('/api/command', { cmd, args });
    expect([status, body['status']]).to.deep.equal([200, 'accepted']);
  };

  it('in a mode that does not arm, Arm says why, the chip is not green, and one tap helps', async () => {
    await command('mode', 'RTL');
    try {
      await says('RTL mode not armable. Switch to GUIDED or STABILIZE.');
      expect(await page.getByText('Ready to arm').count()).to.equal(0);
      const arm = page.getByRole('button', { name: /^Arm\b/ }).first();
      expect(await arm.getAttribute('aria-disabled')).to.equal('true');
      await page.getByRole('button', { name: 'Switch to GUIDED', exact: true }).click();
      await says('Switch to GUIDED: accepted.');
      await says('Ready to arm');
      expect(await now()).to.include({ armed: false, mode: 'GUIDED' });
    } finally {
      await command('mode', 'STABILIZE');
    }
    seen.check();
  });

  it('a refused command shows the vehicle’s own words', async () => {
    await page.getByText('More …').click();
    await page.locator('.fly__mode-choice select').fill('FLIP');
    await hold('Change mode');
    await says('No such mode 14');
    expect(await now()).to.include({ armed: false, mode: 'STABILIZE' });
    seen.check();
  });

  it('a short press does nothing; held, it arms and takes off to the height asked for, flies the mission, and lands', async () => {
    await says('Ready to arm');
    await page.getByText('Take off …').click();
    await page.getByLabel('Height above take-off point, m', { exact: true }).fill('5');
    const name = 'Arm and take off to 5 m';
    await page.getByRole('button', { name, exact: true }).click({ delay: 200 });
    expect(await page.$('.outcome .note')).to.equal(null);
    expect(await now()).to.include({ armed: false });

    await hold(name);
    await says(`${name}: accepted.`);
    await telemetry(
      node,
      ({ armed, position }) => armed === true && (position as { alt_rel: number }).alt_rel > 4,
    );
    await says('In the air');
    await page.getByText('Go to …').click();
    await page.getByLabel('Latitude, °', { exact: true }).fill('48');
    await page.getByLabel('Longitude, °', { exact: true }).fill('11');
    await hold('Go');
    await says('m from the vehicle; the limit is 2000 m.');
    const far = 'Go to 48, 11 anyway';
    await hold(far);
    await says(`${far}: accepted.`);
    await page.getByText('More …').click();
    await hold('Start mission');
    await says('Start mission: accepted.');
    await telemetry(node, ({ mission }) => {
      const { state, current } = mission as { state: string; current: number };
      return state === 'active' && current >= 2;
    });
    await hold('Land');
    await says('Land: accepted.');
    await telemetry(node, ({ mode }) => mode === 'LAND');
    await says('On the ground');
    seen.check();
  });

  it('a waypoint has one number: on the map of Fly, in the plan and on the command line; home is H', async () => {
    await page.waitForSelector('.marker.waypoint');
    const texts = async (kind: string): Promise<string[]> =>
      page.$$eval(`.${kind}`, (all) => all.map((each) => each.textContent?.trim() ?? ''));
    const onFly = await texts('marker.waypoint');
    const { stdout } = await svc(node.paths, 'mission', 'get');
    const rows = stdout
      .split('\n')
      .flatMap((line) => /^ *(\d+) .* (-?\d+\.\d{7}) -?\d+\.\d{7} /.exec(line)?.slice(1, 3) ?? []);
    const placed = rows.flatMap((text, at) => (at % 2 === 0 && Number(rows[at + 1]) !== 0 ? [text] : []));
    expect(placed).to.not.deep.equal([]);
    expect(onFly).to.deep.equal(placed);
    expect(await texts('marker.home')).to.deep.equal(['H']);
    expect(rows[0], 'ArduPilot: 0 is home').to.equal('1');
    await page.goto(`${node.url}/#/plan`);
    await page.waitForSelector('.handle.mission');
    expect(await texts('handle.mission')).to.deep.equal(placed);
    const listed = await page.$$eval('.plan__items .plan__seq', (all) => all.map((each) => each.textContent));
    expect(listed).to.deep.equal(rows.filter((_, at) => at % 2 === 0));
    expect(await texts('handle.home')).to.deep.equal(['H']);
  });

  it('a radio that loses the picture is not green, and its loss says of what it is, on the chip and on the card', async () => {
    const { body: radio } = await node.json('/api/wfb');
    let loss = 0;
    await page.route('**/api/wfb', async (route) => {
      const heard = { state: 'active', loss_percent: loss } as const;
      const body = JSON.stringify({ ...radio, ...heard, quality: radioQuality(heard) });
      await route.fulfill({ status: 200, contentType: 'application/json', body });
    });
    const shown = async (selector: string, tone: string, text: string): Promise<void> => {
      await page.waitForFunction(
        ([where, wanted]) =>
          [...document.querySelectorAll(where)].some((at) => at.textContent?.includes(wanted)),
        [`${selector} .badge.${tone}`, text] as const,
      );
    };
    await page.goto(`${node.url}/#/fly`);
    for (const [percent, tone, chip] of [
      [0.2, 'good', '0.2 % lost after FEC'],
      [9.8, 'warn', '9.8 % lost after FEC'],
      [30, 'bad', '30.0 % lost after FEC'],
    ] as const) {
      loss = percent;
      await shown('.fly__strip', tone, chip);
    }
    await page.goto(`${node.url}/#/node/radio`);
    await shown('.node__node-page', 'bad', '30.0 % lost after FEC');
  });

  it('has no barrier that axe knows of, on a desktop and on a phone', async () => {
    await checkAxe(page);
    await page.setViewportSize(PHONE);
    await checkAxe(page);
    await page.getByLabel('Enlarge map', { exact: true }).click();
    await checkAxe(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).to.equal(false);
  });

  it('shows no value of a lost vehicle as one of now', async () => {
    const figure = async (label: string): Promise<string> =>
      page.$$eval(
        '.fly__key-figures .stat, .stats .stat',
        (all, wanted) =>
          all.find((each) => each.querySelector('dt')?.textContent === wanted)?.querySelector('dd')
            ?.textContent ?? '',
        label,
      );
    expect(await figure('Height')).to.match(/ m$/);
    const pid = node.pid('svc-sim');
    process.kill(pid, 'SIGSTOP');
    try {
      await says('Link lost');
      // What came after the last heartbeat is as much younger.
      await page.waitForSelector('.vehicle.old');
      await page.waitForSelector('.fly__horizon.stale');
      for (const label of ['Height', 'Ground speed', 'Climb', 'Heading', 'Position'])
        expect(await figure(label), label).to.match(/^–/);
      // Each value is as old as it came, and the battery's need not have come before the position's.
      await page.waitForFunction(
        () => !/\d V|sat\..*\d/.test(document.querySelector('.fly__strip')?.textContent ?? '0 V'),
      );
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await says('Not ready to arm: LAND mode not armable');
  });
});
