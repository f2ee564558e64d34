/// <reference lib="dom" />
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
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
    [node, browser] = await Promise.all([TestNode.start({ pairing: { key: KEY } }), openBrowser()]);
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
  /** Opens a row of the table by its number. */
  const openRow = async (seq: number): Promise<void> => {
    const rows = await page.$$(
      '.plan__items tbody tr:not(.plan__editor, .fault, .plan__shape-head) .plan__link',
    );
    await rows[seq]?.click();
  };
  const enter = async (field: string, value: string): Promise<void> => {
    await page.getByRole('spinbutton', { name: field, exact: true }).fill(value);
    await page.keyboard.press('Tab');
  };
  const says = async (text: string): Promise<void> => {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
  };

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
    await says('Read from the vehicle');
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
    expect(await held('fence')).to.have.length(4);
    await says('Same as on the vehicle.');
    await checkAxe(page);
  });

  it('marks what differs from the vehicle, keeps it while another page is looked at, and discards it', async () => {
    await page.waitForSelector('.plan__items');
    const before = await held('mission');
    await openRow(1);
    await enter('Height (m)', '33');
    await page.selectOption('.plan__add select', '93');
    await press('Add');
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll('.plan__items .badge')].map((each) => each.textContent).join() ===
        'changed,new',
    );
    await visit(page, 'vehicle');
    await visit(page, 'plan');
    await says('Different from the vehicle: Mission.');
    expect(await held('mission')).to.deep.equal(before);
    await press('Discard changes');
    await says('Same as on the vehicle.');
    expect(await page.$$('.plan__items .badge')).to.have.lengthOf(0);
  });

  it('shows at its row why an item cannot be flown, and sends nothing', async () => {
    await page.waitForSelector('.plan__items');
    const before = await held('mission');
    await openRow(1);
    await enter('Latitude (°)', '95');
    await page.waitForSelector('tr.fault [role=alert]');
    expect(await page.$eval('tr.fault [role=alert]', (each) => each.textContent)).to.include(
      'Item 2: x is the latitude in degrees, -90 to 90, and is 95.',
    );
    await press('Upload Fix the marked item first.');
    expect(await held('mission')).to.deep.equal(before);
    await press('Undo');
    await says('Same as on the vehicle.');
  });
});
