/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { radioQuality } from '../../shared/radio/quality.ts';
import { askAgain } from '../support/ask-again.ts';
import { checkAxe, noBrowser, openBrowser, openPage, PHONE, type Watch, watch } from '../support/browser.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

/** Desk, tablet, and a phone both ways. */
const SIZES = [
  { width: 1920, height: 1080 },
  { width: 1280, height: 800 },
  { width: 768, height: 1024 },
  { width: 844, height: 390 },
  PHONE,
] as const;

/** A simulated vehicle is flown from the page; what it really did is asked over the API. */
describe('flying from the page', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([TestNode.start(), openBrowser('chromium', { deaf: true })]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  beforeEach(async () => {
    page = await openPage(browser);
    seen = watch(page, node.url);
    await page.goto(`${node.url}/#/fly`);
    // After a flight its mode does not arm, and a take-off changes that.
    await page
      .getByText(/eady to arm|Takes off in/)
      .first()
      .waitFor({ state: 'attached' });
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
  /** Draws the thumb of a slide from its beginning to its end. */
  const slide = async (name: string, share = 1): Promise<void> => {
    const track = page.getByRole('button', { name, exact: true });
    await track.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await track.boundingBox()) ?? expect.fail();
    const from = x + height / 2;
    await page.mouse.move(from, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(from + (width - height) * share, y + height / 2, { steps: 5 });
    await page.mouse.up();
  };
  const sheet = async (button: string): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.waitForSelector('dialog[open]');
  };
  const now = async (): Promise<Record<string, unknown>> => (await node.json('/api/telemetry')).body;
  const command = async (cmd: string, ...args: string[]): Promise<void> => {
    const { status, body } = await node.post('/api/command', { cmd, args });
    expect([status, body['status']]).to.deep.equal([200, 'accepted']);
  };

  it('in a mode that does not arm it says in which it takes off, and does; a tap on the slide is answered in its sheet', async () => {
    await command('mode', 'RTL');
    try {
      await says('Takes off in GUIDED.');
      for (const text of ['Ready to arm', 'Not ready to arm'])
        expect(await page.getByText(text, { exact: true }).count(), text).to.equal(0);
      await sheet('Take off');
      const dialog = page.locator('dialog[open]');
      await dialog.getByText('Arms in GUIDED.').waitFor();
      await dialog.getByText('Takes off in GUIDED.').waitFor();
      await page.getByLabel('Height above take-off point (m)', { exact: true }).fill('2');
      const name = 'Arm and take off to 2 m';
      await dialog.getByRole('button', { name, exact: true }).click();
      await dialog.getByText('Slide to the end to confirm.', { exact: true }).waitFor();
      const orders: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/api/command')) orders.push(request.postData() ?? '');
      });
      await slide(name);
      await says(`${name}: accepted.`);
      expect(orders).to.deep.equal([JSON.stringify({ cmd: 'takeoff', args: [2, 1] })]);
      await telemetry(node, ({ armed, mode }) => armed === true && mode === 'GUIDED');
      await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 1);
    } finally {
      await command('land');
      await telemetry(node, ({ armed }) => armed === false);
      await command('mode', 'STABILIZE');
    }
    seen.check();
  });

  it('a tap on a mode says to hold it; what was said goes with its page', async () => {
    await sheet('Mode');
    const mode = page.getByRole('button', { name: 'Switch to LOITER', exact: true });
    await mode.click();
    await mode.getByText('Press and hold to confirm.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Hold position', exact: true }).click({ force: true });
    await page.locator('.toasts').getByText('Not armed.').waitFor();
    await page.goto(`${node.url}/#/vehicle`);
    await page.waitForSelector('main[data-page=vehicle]');
    expect(await page.locator('.toasts .note').count()).to.equal(0);
  });

  it('a vehicle on the ground that does not know its position is told so, and its estimator is not called bad', async () => {
    const disable = async (value: number): Promise<void> => {
      const { status } = await node.post('/api/params/SIM_GPS_DISABLE', { value });
      expect(status).to.equal(200);
    };
    await disable(1);
    try {
      await says('No position yet');
      expect(await page.getByText('EKF bad', { exact: true }).count()).to.equal(0);
    } finally {
      await disable(0);
    }
    await page.getByText('No position yet', { exact: true }).waitFor({ state: 'detached' });
    seen.check();
  });

  it('a refused command shows the vehicle’s own words', async () => {
    await sheet('Mode');
    expect(
      await page
        .getByRole('listitem')
        .filter({ hasText: /^STABILIZE/ })
        .getAttribute('aria-current'),
    ).to.equal('true');
    await hold('Switch to FLIP');
    await says('No such mode 14');
    expect(await now()).to.include({ armed: false, mode: 'STABILIZE' });
    seen.check();
  });

  it('a tap and half a slide do nothing; drawn to the end, it arms and takes off to the height asked for, flies the mission, and lands', async () => {
    await says('Ready to arm');
    await sheet('Take off');
    await page.getByLabel('Height above take-off point (m)', { exact: true }).fill('5');
    const name = 'Arm and take off to 5 m';
    await page.getByRole('button', { name, exact: true }).click({ delay: 200 });
    await slide(name, 0.6);
    expect(await page.$('.outcome .note')).to.equal(null);
    expect(await now()).to.include({ armed: false });

    await slide(name);
    await says(`${name}: accepted.`);
    await telemetry(
      node,
      ({ armed, position }) => armed === true && (position as { alt_rel: number }).alt_rel > 4,
    );
    await says('Flying');
    await page.waitForSelector('.instruments__key-figures :text-matches("^0:[0-9]{2}$")');
    await sheet('More commands');
    await page.getByRole('button', { name: 'Go to …', exact: true }).click();
    await page.getByLabel('Latitude (°)', { exact: true }).fill('48');
    await page.getByLabel('Longitude (°)', { exact: true }).fill('11');
    await hold('Go');
    await says('m from the vehicle; the limit is 2000 m.');
    const far = 'Go to 48, 11 anyway';
    await hold(far);
    await says(`${far}: accepted.`);
    // Silent in flight, it is still one that flies: the node says of a silent one that nobody knows whether it is armed.
    const pid = node.pid('svc-sim');
    process.kill(pid, 'SIGSTOP');
    try {
      await page.getByRole('alert').getByText('Link lost').waitFor();
      await telemetry(node, ({ mavlink_alive: alive, armed }) => alive === false && armed === null);
      await says('What the vehicle does on its own:');
      for (const way of ['Land', 'Return'])
        await page
          .getByRole('group', { name: 'Commands', exact: true })
          .first()
          .getByRole('button', { name: way, exact: true })
          .waitFor();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await page.getByRole('alert').getByText('Link lost').waitFor({ state: 'detached' });
    await sheet('More commands');
    await hold('Start mission');
    await says('Start mission: accepted.');
    await telemetry(node, ({ mission }) => {
      const { state, current } = mission as { state: string; current: number };
      return state === 'active' && current >= 2;
    });
    // The vehicle's own numbers, as on the map: ArduPilot's last is as many as there are items.
    const { mission } = await now();
    await page.waitForFunction(
      (last) => new RegExp(`Waypoint [2-9][0-9]* of ${last}\\b`).test(document.body.innerText),
      (mission as { total: number }).total,
      { polling: 100 },
    );
    await hold('Land');
    await says('Land: accepted.');
    await telemetry(node, ({ mode }) => mode === 'LAND');
    await says('Disarmed');
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
    // Those without room are a mark without a number.
    const isNumbered = (shown: readonly string[]): void => {
      expect(shown.map((text, at) => (text === '' ? placed[at] : text))).to.deep.equal(placed);
      expect(shown.join('')).to.not.equal('');
    };
    isNumbered(onFly);
    expect(await texts('marker.home')).to.deep.equal(['H']);
    expect(rows[0], 'ArduPilot: 0 is home').to.equal('1');
    await page.goto(`${node.url}/#/plan`);
    await page.waitForSelector('.handle.mission');
    isNumbered(await texts('handle.mission'));
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
        [`${selector}.${tone}`, text] as const,
        { polling: 100 },
      );
    };
    await page.goto(`${node.url}/#/fly`);
    for (const [percent, tone, chip] of [
      [0.2, 'good', '0.2 % lost after FEC'],
      [9.8, 'warn', '9.8 % lost after FEC'],
      [30, 'bad', '30.0 % lost after FEC'],
    ] as const) {
      loss = percent;
      await shown('.strip__strip .chip', tone, chip);
    }
    await page.goto(`${node.url}/#/node/radio`);
    await shown('.node__node-page .badge', 'bad', '30.0 % lost after FEC');
  });

  it('keeps every command in sight and large enough for a finger, whatever the window', async () => {
    for (const size of SIZES) {
      await page.setViewportSize(size);
      const boxes = await page.$$eval('.dock__dock button', (all) =>
        all.map((each) => {
          const { left, right, top, bottom, width, height } = each.getBoundingClientRect();
          const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          const isSeen = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
          return { isSeen: isSeen && at !== null && each.contains(at), large: width >= 44 && height >= 44 };
        }),
      );
      expect(boxes, `${size.width}x${size.height}`).to.deep.equal(
        boxes.map(() => ({ isSeen: true, large: true })),
      );
      expect(boxes).to.have.length(5);
    }
  });

  it('a key does nothing to the vehicle by a press, and what its button does when it is held', async () => {
    await command('mode', 'GUIDED');
    await command('arm');
    await command('takeoff', '5');
    await says('Flying');
    const orders: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/command')) orders.push(request.postData() ?? '');
    });
    for (const key of ['l', 'r', 'h', 'L', ' ', 'Enter']) await page.keyboard.press(key, { delay: 20 });
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] kbd');
    await page.keyboard.down('l');
    await page.keyboard.press('Escape');
    await page.keyboard.up('l');
    expect(orders).to.deep.equal([]);
    await page.keyboard.down('l');
    await says('Land: accepted.');
    await page.keyboard.up('l');
    expect(orders).to.deep.equal([JSON.stringify({ cmd: 'land', args: [] })]);
    await says('Disarmed', 60_000);
  });

  describe('in the worst minute', () => {
    const banner = (): ReturnType<Page['getByRole']> =>
      page.getByRole('group', { name: 'Warning', exact: true });
    const set = async (name: string, value: number): Promise<void> => {
      expect((await node.post(`/api/params/${name}`, { value, force: true })).status, name).to.equal(200);
    };
    /** What is said, and how often: an alert is read out whenever its text changes. */
    const alerts = async (): Promise<readonly string[]> =>
      page.evaluate(() => (window as unknown as { alerts: readonly string[] }).alerts);
    const spoken = async (): Promise<readonly string[]> =>
      page.evaluate(() => (window as unknown as { spoken: readonly string[] }).spoken);
    before(async () => {
      await set('BATT_LOW_VOLT', 10.5);
      await set('BATT_FS_LOW_ACT', 2);
    });
    beforeEach(async () => {
      // A browser with a voice, whose words are written down.
      await page.addInitScript(() => {
        const words: string[] = [];
        Object.assign(window, { spoken: words });
        speechSynthesis.speak = (utterance) => void words.push(`${utterance.lang}: ${utterance.text}`);
        speechSynthesis.getVoices = () => [{ lang: 'en-GB' } as SpeechSynthesisVoice];
      });
      await command('mode', 'STABILIZE');
      await page.goto(`${node.url}/#/fly`);
      await page.reload();
      await says('eady to arm');
      await page.evaluate(() => {
        const said: string[] = [];
        Object.assign(window, { alerts: said });
        const alert = document.querySelector('.inside')?.parentElement?.querySelector('[role=alert]');
        if (!alert) throw new Error('no place for alerts');
        new MutationObserver(() => {
          const text = alert.textContent.replaceAll(/ +/g, ' ').trim();
          if (text !== '' && text !== said.at(-1)) said.push(text);
        }).observe(alert, { childList: true, subtree: true, characterData: true });
      });
      await command('mode', 'GUIDED');
      await command('arm');
      await command('takeoff', '5');
      await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 4);
    });
    afterEach(async () => {
      await set('SIM_BATT_VOLTAGE', 12.6);
      await set('SIM_GPS_DISABLE', 0);
      await command('mode', 'LAND');
      await telemetry(node, ({ armed }) => armed === false);
      await command('mode', 'STABILIZE');
    });
    /** Nothing of the page lies under it or over it. */
    const overlaps = async (): Promise<readonly string[]> =>
      page.evaluate(() => {
        const box = (at: Element): DOMRect => at.getBoundingClientRect();
        const own = document.querySelector('.alarm');
        if (own === null) return ['no banner'];
        const over = box(own);
        return [...document.querySelectorAll('button, a.button, .instruments__key-figures')]
          .filter((each) => !own.contains(each) && box(each).width > 0)
          .filter((each) => box(each).top < over.bottom - 1 && box(each).bottom > over.top + 1)
          .map((each) => `${each.className} ${each.textContent}`);
      });

    it('says of an empty battery what, why, what the vehicle does and what can be done, on every page, once; and speaks it', async () => {
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      await page.getByRole('combobox', { name: 'Spoken warnings', exact: true }).selectOption('all');
      await page.keyboard.press('Escape');
      expect(await spoken()).to.deep.equal(['en: Voice on.']);
      await set('SIM_BATT_VOLTAGE', 9.6);
      await banner().getByText('Failsafe: low battery').waitFor();
      await banner().getByText('It returns home.').waitFor();
      await banner().getByText('You can land it now or take over by radio.').waitFor();
      await banner()
        .getByText(/9\.\d V · \d+ %/)
        .waitFor();
      await page.waitForSelector('.instruments__key-figures .stat.warn span.warn');
      for (const size of SIZES.filter(({ height }) => height > 500)) {
        await page.setViewportSize(size);
        expect(await overlaps(), `${size.width}x${size.height}`).to.deep.equal([]);
        await checkAxe(page);
      }
      const words = 'Failsafe: low battery It returns home. You can land it now or take over by radio.';
      expect((await alerts()).filter((each) => each === words)).to.have.length(1);
      expect(await spoken()).to.include('en: Mode RTL.');
      expect(
        (await spoken()).filter((each) => each.startsWith('en: Failsafe: low battery. It returns home.')),
      ).to.have.length(1);
      // On the other pages its commands are with it.
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${node.url}/#/plan`);
      const land = banner().getByRole('button', { name: 'Land', exact: true });
      await land.hover();
      await page.mouse.down();
      await banner().getByText('It lands here.').waitFor();
      await page.mouse.up();
      expect(await now()).to.include({ mode: 'LAND' });
    });

    it('says on the map, at Home and above all that the position is lost, and computes nothing of it', async () => {
      await command('mode', 'ALT_HOLD');
      await set('SIM_GPS_DISABLE', 1);
      await banner()
        .getByText(/position lost/i)
        .waitFor();
      await banner()
        .getByText(/\d+ s ago/)
        .waitFor();
      await page
        .locator('.live-vehicle.astray.lost')
        .getByText(/^Position lost \d+ s ago$/)
        .waitFor();
      const home = page.locator('.instruments__key-figures .stat').filter({ hasText: 'Home' });
      await home.getByText(/^–\s*Position lost/).waitFor();
      expect(await banner().getByText('return it').count()).to.equal(0);
      await set('SIM_GPS_DISABLE', 0);
      await page.locator('.live-vehicle.astray').waitFor({ state: 'detached' });
      await home.getByText(/^\d+ m/).waitFor();
    });

    it('tells of another vehicle on the link until it was read', async () => {
      const detail = 'Another vehicle is heard on the link: system 7.';
      const { body: status } = await node.json('/api/status');
      await page.route('**/api/status', async (route) =>
        route.fulfill({
          status: 200,
          contentType: 'application/json',
          body: JSON.stringify({ ...status, link_problems: [{ code: 'other_vehicle', detail }] }),
        }),
      );
      await page.getByText(detail).waitFor();
      await page
        .locator('.banner')
        .filter({ hasText: detail })
        .getByRole('button', { name: 'Close', exact: true })
        .click();
      await page.getByText(detail).waitFor({ state: 'detached' });
    });
  });

  it('has no barrier that axe knows of, on a desktop and on a phone', async () => {
    for (const theme of ['light', 'dark', 'sun']) {
      await page.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await checkAxe(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(wide, `${theme} ${size.width}`).to.equal(false);
      }
      await page.setViewportSize(PHONE);
      for (const name of ['Take off', 'Mode', 'More commands', 'Instruments', 'Vehicle messages']) {
        const button = page.getByRole('button', { name, exact: true });
        if ((await button.getAttribute('aria-disabled')) === 'true') continue;
        await sheet(name);
        await checkAxe(page);
        await page.keyboard.press('Escape');
      }
    }
  });

  it('shows no value of a lost vehicle as one of now: the last ones stay, grey, with their age', async () => {
    const figure = async (label: string): Promise<string> =>
      page.$$eval(
        '.instruments__key-figures .stat, .stats .stat',
        (all, wanted) => {
          const at = all.find((each) => each.querySelector('dt')?.textContent === wanted);
          const isStale = at?.classList.contains('stale') === true ? 'stale: ' : '';
          return isStale + (at?.querySelector('dd')?.textContent ?? '');
        },
        label,
      );
    expect(await figure('Height')).to.match(/^[-0-9.]+ m *$/);
    await sheet('Instruments');
    const pid = node.pid('svc-sim');
    process.kill(pid, 'SIGSTOP');
    try {
      await page.getByRole('alert').getByText('Link lost').waitFor();
      // What came after the last heartbeat is as much younger.
      await page.waitForSelector('.vehicle.old', { state: 'attached' });
      await page.waitForSelector('.instruments__horizon.stale');
      // Each value is as old as it came.
      for (const label of ['Height', 'Ground speed', 'Climb', 'Battery', 'Heading', 'Position'])
        await askAgain(
          label,
          async () => figure(label),
          (text) => /^stale: [-0-9.]+.* [0-9]+ s ago$/.test(text),
        );
      // What is made of two places is of now or not at all.
      expect(await figure('Home')).to.match(/^stale: –/);
      await page.getByRole('group', { name: 'Vehicle', exact: true }).locator('.pill.old').first().waitFor();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await says('Takes off in GUIDED.');
  });
});
