/// <reference lib="dom" />
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { packFolder } from '../../shared/plugins/pack.ts';
import {
  checkAxe,
  frameAt,
  noBrowser,
  openBrowser,
  openPage,
  signIn,
  type Watch,
  watch,
} from '../support/browser.ts';
import { makeExtension, withSdk } from '../support/extensions.ts';
import { ROOT } from '../support/node.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const CURIOUS = 'org.example.curious';
const FENCE = 'org.svc.geofence-watch';

/** Tries everything that it may and may not, and writes down what came of it. */
const CODE = `
const tried = {};
const write = (name, text) => {
  const line = document.createElement('p');
  line.textContent = name + ': ' + text;
  document.body.append(line);
};
svc.on('telemetry', ({ armed }) => { if (!tried.telemetry) write('telemetry', String(armed)); tried.telemetry = true; });
const ask = (name, asked) => svc.request(asked).then((answer) => write(name, JSON.stringify(answer)), ({ message }) => write(name, message));
ask('subscribed', { capability: 'telemetry.subscribe' });
ask('mission', { capability: 'mission.read', part: 'mission' });
ask('command', { capability: 'command.send', cmd: 'arm' });
ask('nonsense', { capability: 'constructor' });
fetch('/api/status').then(() => write('network', 'reached'), () => write('network', 'nothing'));
try { write('storage', String(top.localStorage.length)); } catch (error) { write('storage', error.name); }
write('webrtc', typeof RTCPeerConnection);
`;

describe('the page of extensions', function () {
  this.timeout(120_000);
  let browser: Browser;
  let plugins: PluginNode;
  let folder: string;
  let page: Page;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    [browser, plugins, folder] = await Promise.all([
      openBrowser('chromium', { deaf: true }),
      PluginNode.start(),
      tempDir(),
    ]);
    page = await openPage(browser);
    page.setDefaultTimeout(15_000);
    seen = watch(page, plugins.node.url);
    await signIn(page, plugins.node.url, PluginNode.headers['x-svc-key']);
  });
  after(async () => {
    await Promise.all([browser?.close(), plugins?.node.stop()]);
    if (folder !== undefined) await removeDir(folder);
  });

  const open = async (hash: string): Promise<void> => {
    await page.evaluate((place) => {
      location.hash = place;
    }, hash);
  };
  const frameSays = async (wanted: string): Promise<void> => {
    const frame = await frameAt(page, '/assets/frame.html');
    await frame.waitForFunction((text) => document.body.innerText.includes(text), wanted, { polling: 100 });
  };

  it('an archive is looked at, installed with what was allowed, set, watched and removed', async () => {
    const project = join(folder, 'geofence');
    await cp(join(ROOT, 'deploy/extensions/geofence-watch'), project, { recursive: true });
    await mkdir(join(project, 'agent/sdk'), { recursive: true });
    for (const [path, text] of Object.entries(await withSdk('')))
      if (!path.endsWith('main.mjs')) await writeFile(join(project, 'agent/sdk', basename(path)), text);
    const archive = join(folder, 'geofence.svcplug');
    await packFolder(project, { sign: { key: plugins.signer.key, signer: plugins.signer.id } }, archive);
    await open('#/extensions');
    await page.getByRole('button', { name: 'Install an extension', exact: true }).click();
    await page.locator('input[type=file]').setInputFiles(archive);
    await page.waitForSelector('.extensions__review');
    expect(await page.$eval('.extensions__review', ({ textContent }) => textContent)).to.include(
      'Signed by tester',
    );
    await checkAxe(page);
    for (const box of await page.$$('.extensions__review .extensions__permission input:not(:checked)'))
      await box.click();
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const running = await plugins.until(
      'it runs',
      async () => plugins.call('GET', `/api/plugins/${FENCE}`),
      ({ body }) => (body['install'] as { status?: string } | undefined)?.status === 'running',
    );
    expect(running.body['granted_capabilities']).to.include.members([
      'telemetry.read',
      'ui.slot.node-detail-tab',
    ]);

    await open(`#/extensions/${FENCE}/page`);
    await frameSays('Inside the fence');

    await open(`#/extensions/${FENCE}/settings`);
    await page.getByLabel('Radius', { exact: true }).fill('450');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await plugins.until(
      'it is stored',
      async () => plugins.call('GET', `/api/plugins/${FENCE}`),
      ({ body }) => JSON.stringify(body['settings']) === '{"radius_m":450}',
    );
    await checkAxe(page);

    await open(`#/extensions/${FENCE}`);
    const remove = page.getByRole('button', { name: 'Remove (hold)', exact: true });
    await remove.click({ delay: 1500 });
    await page.waitForFunction(() => location.hash === '#/extensions', undefined, { polling: 100 });
    expect((await plugins.call('GET', `/api/plugins/${FENCE}`)).status).to.equal(404);
    seen.check();
  });

  it("an extension's page gets what it was granted, and reaches nothing else", async () => {
    const archive = await makeExtension({
      id: CURIOUS,
      agent: null,
      lines: [
        'gcs:',
        '  entrypoint: gcs/page.js',
        '  permissions:',
        '    - ui.slot.node-detail-tab',
        '    - telemetry.subscribe',
        '    - { id: mission.read, required: false }',
        '    - { id: command.send, required: false }',
      ],
      files: { 'gcs/page.js': CODE },
      signer: plugins.signer,
    });
    // No frame of another extension is there any more.
    await open('#/extensions');
    await page.getByRole('button', { name: 'Install an extension', exact: true }).waitFor();
    const { status } = await plugins.install(
      archive,
      '?requested_permissions=ui.slot.node-detail-tab,telemetry.subscribe',
    );
    expect(status).to.equal(200);
    await plugins.done('POST', `/api/plugins/${CURIOUS}/enable`, {});
    await open(`#/extensions/${CURIOUS}/page`);
    await page.bringToFront();
    for (const line of [
      'subscribed: {}',
      'telemetry: false',
      'mission: capability_denied: mission.read',
      'command: capability_denied: command.send',
      'nonsense: unknown method constructor',
      'network: nothing',
      'storage: SecurityError',
      'webrtc: undefined',
    ])
      await frameSays(line);
  });
});
