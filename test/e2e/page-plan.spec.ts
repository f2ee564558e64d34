/// <reference lib="dom" />
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { recordOf } from '../../shared/member.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
import { askAgain } from '../support/ask-again.ts';
import { checkAxe, noBrowser, openBrowser, openPage, signIn, visit, watch } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const HOME = [-35.3632621, 149.1652374, 584] as const;

function simple(command: number, frame: number, params: readonly (number | null)[]): object {
  return { type: 'SimpleItem', autoContinue: true, command, frame, params };
}

/** As QGroundControl writes it. */
const PLAN = {
  fileType: 'Plan',
  version: 1,
  groundStation: 'QGroundControl',
  mission: {
    version: 2,
    firmwareType: 3,
    vehicleType: 2,
    cruiseSpeed: 15,
    hoverSpeed: 5,
    globalPlanAltitudeMode: 1,
    plannedHomePosition: HOME,
    items: [
      simple(22, 3, [0, 0, 0, null, HOME[0], HOME[1], 25]),
      simple(16, 3, [0, 0, 0, null, -35.362, 149.166, 30]),
      simple(16, 3, [5, 0, 0, null, -35.361, 149.167, 30]),
      simple(20, 2, [0, 0, 0, 0, 0, 0, 0]),
    ],
  },
  geoFence: {
    version: 2,
    polygons: [
      {
        inclusion: true,
        version: 1,
        polygon: [
          [-35.37, 149.15],
          [-35.37, 149.18],
          [-35.35, 149.18],
        ],
      },
    ],
    circles: [],
  },
  rallyPoints: { version: 2, points: [[-35.3635, 149.1655, 20]] },
};

describe('the page of the plan', function () {
  this.timeout(120_000);
  let node: TestNode;
  let browser: Browser;
  let page: Page;
  let seen: ReturnType<typeof watch>;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    [node, browser] = await Promise.all([
      TestNode.start({ pairing: { key: KEY } }),
      openBrowser('chromium', { deaf: true }),
    ]);
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
  });
  beforeEach(async () => {
    page = await openPage(browser);
    seen = watch(page, node.url);
    await signIn(page, node.url, KEY);
    await visit(page, 'plan');
  });
  afterEach(async () => {
    seen.check();
    await page.context().close();
  });

  const held = async (part: string): Promise<readonly MissionItem[]> => {
    const read = async () => fetch(`${node.url}/api/${part}?refresh=1`, { headers: { 'x-svc-key': KEY } });
    let response = await read();
    while (response.status === 409) response = await read(); // the page reads it at this moment
    const { items } = (await response.json()) as { items: readonly MissionItem[] };
    return items;
  };
  const press = async (name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  /** Opens a row of the list. @param at from 0 */
  const openRow = async (at: number): Promise<void> => page.locator('.plan__item').nth(at).click();
  const inFiles = async (name: string): Promise<void> => {
    await press('Files');
    await press(name);
  };
  const add = async (option: string): Promise<void> => {
    if (!(await page.locator('.plan__add').isVisible())) await page.getByText('Other item').click();
    await page.selectOption('.plan__add select', option);
    await press('Add');
  };
  const enter = async (field: string, value: string): Promise<void> => {
    await page.getByRole('spinbutton', { name: field, exact: true }).fill(value);
    await page.keyboard.press('Tab');
  };
  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  };

  it('has no numbers on the map that cover each other, and all of them where one is close', async () => {
    await says('Same as on the vehicle.');
    const path = join(node.base, 'dense.waypoints');
    const rows = Array.from(
      { length: 12 },
      (_, at) => `${at}\t0\t3\t16\t0\t0\t0\t0\t${-35.363 - at * 0.00004}\t149.165\t20\t1`,
    );
    await writeFile(path, `QGC WPL 110\n${rows.join('\n')}\n`);
    await page.locator('input[type=file]').setInputFiles(path);
    await says('dense.waypoints');
    const marks = async (): Promise<readonly { readonly x: number; readonly y: number }[]> =>
      page.$$eval('.plan__stage .handle.mission:has(text)', (all) =>
        all.map((each) => each.getBoundingClientRect()).map(({ x, y }) => ({ x, y })),
      );
    // Drawn with the map, a moment after the name is said.
    const shown = await askAgain('some numbers', marks, ({ length }) => length >= 2 && length <= 10, 10_000);
    for (const [at, a] of shown.entries())
      for (const b of shown.slice(at + 1)) expect(Math.hypot(a.x - b.x, a.y - b.y)).to.be.above(26);
    // The first row is home.
    for (let n = 0; n < 4; n++) await press('Zoom in');
    await askAgain('all numbers', marks, (all) => all.length === rows.length - 1, 10_000);
    await inFiles('Discard changes');
  });

  it('opens a plan file of QGroundControl, changes it, sends it, and the vehicle holds exactly it', async () => {
    await says('Same as on the vehicle.');
    const path = join(node.base, 'survey.plan');
    await writeFile(path, JSON.stringify(PLAN));
    const picker = page.locator('input[type=file]');
    await picker.setInputFiles(path);
    await says('Different from the vehicle: Mission, Fence, Rally points.');
    await openRow(2);
    await enter('Height (m)', '42');
    await enter('Wait (s)', '7');
    await press('Upload');
    await says('Same as on the vehicle.');
    const mission = await held('mission');
    expect(mission.map(({ command, z }) => [command, z])).to.deep.equal([
      [22, 25],
      [16, 30],
      [16, 42],
      [20, 0],
    ]);
    expect(mission[2]).to.include({ x: -35.361, y: 149.167, param1: 7 });
    expect((await held('fence')).map(({ command, param1, x }) => [command, param1, x])).to.deep.equal([
      [5001, 3, -35.37],
      [5001, 3, -35.37],
      [5001, 3, -35.35],
    ]);
    expect((await held('rally')).map(({ x, y, z }) => [x, y, z])).to.deep.equal([[-35.3635, 149.1655, 20]]);
    await checkAxe(page);
  });

  it('opens waypoints with a gap and the points of a fence, and says what the vehicle holds otherwise', async () => {
    await says('Same as on the vehicle.');
    const picker = page.locator('input[type=file]');
    const fence = join(node.base, 'fence.txt');
    await writeFile(fence, '-35.363 149.165\n-35.37 149.15\n-35.37 149.18\n-35.35 149.18\n-35.37 149.15\n');
    await picker.setInputFiles(fence);
    await says('fence.txt: Fence 4.');
    const gap = join(node.base, 'gap.waypoints');
    const row = (number: number, command: number, wait: number): string =>
      [number, 0, 3, command, wait, 0, 0, 0, -35.36, 149.16, 20, 1].join('\t');
    await writeFile(
      gap,
      ['QGC WPL 110', '0 1 0 16 0 0 0 0 0 0 0 1', row(1, 22, 0), row(4, 19, 2.5)].join('\n'),
    );
    await picker.setInputFiles(gap);
    await says('A line has the number 4 instead of 2');
    await press('Upload');
    await says('Item 2: param1 2.5 is held as 2.');
    await says('Item 2: param3 0 is held as 1.');
    expect((await held('mission')).map(({ command }) => command)).to.deep.equal([22, 19]);
    // It is sent after the mission.
    await askAgain(
      'the fence is held',
      async () => held('fence'),
      ({ length }) => length === 4,
    );
    await says('Same as on the vehicle.');
    await checkAxe(page);
  });

  it('marks what differs from the vehicle, keeps it while another page is looked at, and discards it', async () => {
    await page.waitForSelector('.plan__items');
    const before = await held('mission');
    await openRow(1);
    await enter('Height (m)', '33');
    await add('93');
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll('.plan__items .badge')].map((each) => each.textContent).join() ===
        'changed,new',
      undefined,
      { polling: 100 },
    );
    await visit(page, 'vehicle');
    await visit(page, 'plan');
    await says('Different from the vehicle: Mission.');
    expect(await held('mission')).to.deep.equal(before);
    await inFiles('Discard changes');
    await says('Same as on the vehicle.');
    expect(await page.$$('.plan__items .badge')).to.have.lengthOf(0);
  });

  it('shows at its row why an item cannot be flown, and sends nothing', async () => {
    await page.waitForSelector('.plan__items');
    const before = await held('mission');
    await openRow(1);
    await enter('Latitude (°)', '95');
    await page.waitForSelector('li.fault [role=alert]');
    expect(await page.$eval('li.fault [role=alert]', (each) => each.textContent)).to.include(
      'Item 2: x is the latitude in degrees, -90 to 90, and is 95.',
    );
    const upload = page.getByRole('button', { name: 'Upload Fix the marked item first.', exact: true });
    await upload.click({ force: true }); // it can be pressed, and does nothing
    expect(await held('mission')).to.deep.equal(before);
    await press('Undo');
    await says('Same as on the vehicle.');
  });

  const countSays = async (label: string, wanted: RegExp): Promise<void> => {
    await page.waitForFunction(
      ([name, pattern]) =>
        [...document.querySelectorAll('.plan__totals .stat')].some(
          (stat) =>
            stat.querySelector('dt')?.textContent === name &&
            new RegExp(pattern).test(stat.querySelector('dd')?.textContent ?? ''),
        ),
      [label, wanted.source] as const,
      { polling: 100 },
    );
  };
  const download = async (name: string): Promise<string> => {
    await press('Files');
    const [file] = await Promise.all([page.waitForEvent('download'), press(name)]);
    const path = join(node.base, file.suggestedFilename());
    await file.saveAs(path);
    await page.keyboard.press('Escape');
    return path;
  };

  it('a survey is drawn, changed with live figures, undone and redone, kept in a file and opened again as the same', async () => {
    await says('Same as on the vehicle.');
    await press('Survey');
    await press('Square');
    await page.locator('.plan__item', { hasText: 'Survey' }).waitFor();
    await countSays('Photos', /^[1-9]\d*$/);
    const totals = (): Promise<string> => page.locator('.plan__totals').innerText();
    const photos = await totals();
    const drawn = (is: boolean): Promise<string> =>
      askAgain(
        is ? 'the figures of before' : 'other figures',
        totals,
        (now) => (now === photos) === is,
        10_000,
      );
    await enter('Height (m)', '20');
    await drawn(false);
    await page.getByRole('application').focus();
    await page.keyboard.press('Control+z');
    await drawn(true);
    await page.keyboard.press('Control+Shift+z');
    await drawn(false);
    await enter('Side overlap (%)', '120');
    await says('Side overlap (%): this value is out of range.');
    await press('Undo');
    await press('Redo');
    const path = await download('Save as .plan');
    const written = await readFile(path, 'utf8');
    const { mission } = JSON.parse(written) as { mission: { items: Record<string, unknown>[] } };
    const survey = mission.items.find(({ complexItemType }) => complexItemType === 'survey');
    expect(survey).to.include({ type: 'ComplexItem', version: 5 });
    await press('Undo');
    await page.locator('input[type=file]').setInputFiles(path);
    await says('mission.plan: Mission');
    const again = await download('Save as .plan');
    expect(JSON.parse(await readFile(again, 'utf8'))).to.deep.equal(JSON.parse(written));
    await checkAxe(page);
    await inFiles('Discard changes');
  });

  it('a survey planned in the page is flown to its end, and keeps its settings after a reload', async function () {
    this.timeout(240_000);
    await says('Same as on the vehicle.');
    while ((await page.locator('.plan__item').count()) > 1) {
      await page.locator('.plan__item').nth(1).click();
      await press('Delete');
    }
    await press('Survey');
    for (let zoom = 0; zoom < 1; zoom++) await press('Zoom in');
    await press('Square');
    await page.locator('.plan__item', { hasText: 'Survey' }).waitFor();
    await enter('Height (m)', '25');
    await enter('Turnaround (m)', '0');
    await add('20');
    await press('Upload');
    await says('Same as on the vehicle.');
    const mission = await held('mission');
    expect(mission.filter(({ command }) => command === 206).length).to.be.at.least(4);
    await page.reload();
    await visit(page, 'plan');
    await page.getByRole('button', { name: /^2–\d+ *Survey/ }).click();
    await askAgain(
      'its height',
      async () => page.getByRole('spinbutton', { name: 'Height (m)', exact: true }).inputValue(),
      (height) => height === '25',
    );
    const command = async (body: object): Promise<void> => {
      const { status, body: answer } = await node.post('/api/command', body, { 'x-svc-key': KEY });
      expect(status, JSON.stringify(answer)).to.equal(200);
    };
    await command({ cmd: 'mode', args: ['GUIDED'] });
    await command({ cmd: 'arm' });
    await command({ cmd: 'missionStart' });
    await page.waitForSelector('.handle.current, .pattern', { timeout: 30_000 });
    const last = mission.findLast(({ command: each }) => each === 16)?.seq ?? 0;
    await askAgain(
      'the mission is at its end',
      async () => (await node.json('/api/telemetry', { headers: { 'x-svc-key': KEY } })).body,
      (body) => Number(recordOf(recordOf(body)['mission'])['current']) > last,
      180_000,
    );
  });

  it('shapes of a KML file become a survey and waypoints, by a hostile name; a document type and a broken file are refused', async () => {
    await says('Same as on the vehicle.');
    const picker = page.locator('input[type=file]');
    const open = async (name: string, text: string): Promise<void> => {
      const path = join(node.base, name);
      await writeFile(path, text);
      await picker.setInputFiles(path);
    };
    await open('bomb.kml', '<!DOCTYPE a [<!ENTITY b "c">]><kml>&b;</kml>');
    await says('This file declares a document type');
    await open('broken.kml', '<kml><Document>');
    await says('This is not a KML file');
    await open('links.json', '<kml><NetworkLink><Link><href>a.kml</href></Link></NetworkLink></kml>');
    await says('This file only links to others');
    await open(
      'metres.json',
      '{"type":"Point","coordinates":[1,2],"crs":{"properties":{"name":"EPSG:25832"}}}',
    );
    await says('This file is in EPSG:25832');
    await open('walk.json', '<gpx><wpt lat="-35.36" lon="149.16"><name>gate</name></wpt></gpx>');
    await page.getByLabel('1 points as').waitFor();
    await page.keyboard.press('Escape');
    const at = (lat: number, lon: number): string => `${149.16 + lon},${-35.36 + lat},0`;
    await open(
      'field.kml',
      `<k:kml xmlns:k="http://www.opengis.net/kml/2.2"><k:Document>
        <k:Placemark><k:name>&lt;img src=x onerror=alert(1)&gt;</k:name><k:Polygon><k:outerBoundaryIs><k:LinearRing><k:coordinates>
          ${at(0, 0)} ${at(0, 0.002)} ${at(0.002, 0.002)} ${at(0, 0)}
        </k:coordinates></k:LinearRing></k:outerBoundaryIs></k:Polygon></k:Placemark>
        <k:Placemark><k:Point><k:coordinates>${at(0.001, 0.003)}</k:coordinates></k:Point></k:Placemark>
      </k:Document></k:kml>`,
    );
    await page.getByLabel('Use <img src=x onerror=alert(1)> as').waitFor();
    await checkAxe(page);
    await press('Add to the plan');
    await page.locator('.plan__item', { hasText: 'Survey' }).waitFor();
    const row = page.locator('.plan__item', { hasText: 'Survey' });
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
    await page.locator('.handle.corner').first().waitFor();
    expect(await page.locator('.handle.corner').count()).to.equal(3);
    await inFiles('Discard changes');
    await says('Same as on the vehicle.');
  });
});
