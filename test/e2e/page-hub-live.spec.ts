/// <reference lib="dom" />
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import type { Browser, Page } from 'playwright-core';
import { type NodeTopic, topics } from '../../shared/fleet/topics.ts';
import { inputsOf, noBrowser, openBrowser, openPage, watch } from '../support/browser.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';

async function say(client: MqttClient, { enrolled, id }: EnrolledNode, what: NodeTopic, body: unknown) {
  const retain = what === 'presence' || what === 'status';
  await client.publishAsync(topics.told(enrolled.fleet, id, what), JSON.stringify(body), { qos: 1, retain });
}

async function says(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text, { polling: 100 });
}

async function visit(page: Page, where: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${where}`);
}

describe("the fleet's page of a hub", function () {
  this.timeout(120_000);
  let hub: TestHub;
  let browser: Browser;
  let page: Page;
  let node: EnrolledNode;
  let client: MqttClient;
  before(async function () {
    if (noBrowser() !== null || noMosquitto() !== null) return this.skip();
    [hub, browser] = await Promise.all([TestHub.start(), openBrowser('chromium', { deaf: true })]);
    node = await hub.enroll('kestrel');
    client = await hub.connect(node);
    const presence = {
      online: true,
      session: 'a',
      at: 1,
      version: '0.2.0',
      profile: 'drone',
      name: 'Kestrel',
    };
    await say(client, node, 'presence', presence);
    page = await openPage(browser);
    await page.goto(`${hub.url}/`);
    await page.locator('input[name=secret]').fill(hub.operator);
    await page.locator('form button[type=submit]').click();
    await page.waitForSelector('nav a.to-audit');
  });
  after(async () => {
    await client?.endAsync(true);
    await browser?.close();
    await hub?.stop();
  });

  const status = {
    at: 1,
    armed: false,
    fc_connected: true,
    mode: 'LOITER',
    battery_percent: 71,
    nonce: 'bootboot.1',
  };

  it('shows what a node says, as it says it', async () => {
    const seen = watch(page, hub.url);
    await says(page, 'Kestrel');
    await say(client, node, 'status', status);
    await says(page, 'LOITER');
    await page.waitForFunction(
      () => document.querySelector('.hub-fleet__row')?.classList.contains('old') === false,
      undefined,
      { polling: 100 },
    );
    await visit(page, 'fleet/kestrel');
    // Again and again, as nodes do: the hub hears it once somebody looks.
    const again = setInterval(
      () => void say(client, node, 'telemetry', { velocity: { groundspeed: 7.25 } }),
      200,
    );
    await says(page, '7.3 m/s').finally(() => clearInterval(again));
    await say(client, node, 'event', {
      stream: 's',
      seq: 1,
      at: Date.now(),
      kind: 'vehicle.armed',
      detail: {},
    });
    await says(page, 'Armed');
    seen.check();
  });

  it('makes codes and credentials that the hub takes, ends one, and finds it all in a whole audit', async () => {
    await visit(page, 'enrol');
    await page.locator('main .button.primary').click();
    await page.waitForSelector('main svg.qr');
    const [code = ''] = await inputsOf(page, 'main .copyable input');
    const { body } = await hub.request('second', code.split('-').at(-1) ?? '');
    expect((await hub.call('POST', '/v1/enroll', { credential: null, body })).status).to.equal(201);
    await visit(page, 'access');
    await page.getByRole('button', { name: 'Add a program', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Add a program' });
    await form.locator('input[name=label]').fill('desk');
    await form.locator('button[type=submit]').click();
    await page.waitForSelector('dialog[open] .copyable');
    const [credential = ''] = await inputsOf(page, 'dialog input');
    await page.keyboard.press('Escape');
    expect((await hub.call('GET', '/v1/nodes', { credential })).status).to.equal(200);
    const end = await page.waitForSelector('[aria-label="Revoke (hold): desk"]');
    await end?.click({ delay: 1200 });
    await page.waitForFunction(
      () => document.querySelector('[aria-label="Revoke (hold): desk"]') === null,
      undefined,
      { polling: 100 },
    );
    expect((await hub.call('GET', '/v1/nodes', { credential })).status).to.equal(401);
    await visit(page, 'audit');
    await says(page, 'codes.post');
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    await says(page, 'audit.ndjson');
    await page.waitForSelector('.note.good');
  });

  it('does not take what the broker has kept for the present', async () => {
    await visit(page, 'fleet');
    await hub.kill();
    await says(page, 'No answer from the hub for');
    await hub.serve();
    await page.waitForFunction(
      () => !document.body.innerText.includes('No answer from the hub for'),
      undefined,
      {
        polling: 100,
      },
    );
    await says(page, 'Kestrel');
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll('.hub-fleet__row')].every(({ classList }) => classList.contains('old')),
      undefined,
      { polling: 100 },
    );
  });
});
