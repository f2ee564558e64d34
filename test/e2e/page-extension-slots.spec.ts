/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser, Frame, Page } from 'playwright-core';
import {
  checkAxe,
  frameAt,
  noBrowser,
  openBrowser,
  openPage,
  signIn,
  visit,
  type Watch,
  watch,
} from '../support/browser.ts';
import { makeExtension } from '../support/extensions.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { TEST_CAMERA } from '../support/video-node.ts';

const ID = 'org.example.older';
const GRANTED = [
  'ui.slot.fc-tab',
  'ui.slot.video-overlay',
  'ui.slot.notification-channel',
  'ui.slot.settings-section',
  'telemetry.subscribe.battery',
  'telemetry.subscribe.mavlink',
];

/** A page for the other host: a module, which speaks to the window around it, in its messages. */
const CODE = `
const write = (name, value) => {
  const line = document.createElement('p');
  line.className = 'older-line';
  line.textContent = name + ': ' + (typeof value === 'string' ? value : JSON.stringify(value));
  document.body.append(line);
};
const waiting = new Map();
const ask = (method, args, capability = method) => new Promise((done) => {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
  waiting.set(id, done);
  window.parent.postMessage({ id, type: 'request', method, capability, args, version: 1 }, '*');
});
const told = new Set();
addEventListener('message', ({ data }) => {
  if (data?.version !== 1) return;
  if (data.type === 'response') waiting.get(data.id)?.(data.error ? data.error.code + ' ' + data.error.message : data.args);
  else if (data.method === 'theme.changed') write('theme', Object.keys(data.args).includes('--bg-primary') ? 'known' : 'unknown');
  else if (data.method === 'config.changed') write('config', data.args);
  else if (data.method === 'telemetry.battery') {
    if (!told.has(data.method)) write('volts', typeof data.args.totalVoltageV + ' ' + Array.isArray(data.args.cellVoltagesV));
    told.add(data.method);
  } else write(data.method, data.args.text ?? 'told');
});
const steps = {
  ping: () => ask('ping', {}),
  battery: () => ask('telemetry.subscribe', { topic: 'battery' }, 'telemetry.subscribe.battery'),
  texts: () => ask('telemetry.subscribe', { topic: 'mavlink.STATUSTEXT' }, 'telemetry.subscribe.mavlink.STATUSTEXT'),
  own: () => ask('telemetry.subscribe', { topic: 'camera.frame' }),
  attitude: () => ask('telemetry.subscribe', { topic: 'attitude' }),
  radio: () => ask('telemetry.subscribe', { topic: 'radio' }),
  topicless: () => ask('telemetry.subscribe', {}),
  mark: () => ask('recording.mark', { label: 'here' }),
  mission: () => ask('mission.read', { missionId: 'x' }),
  nonsense: () => ask('constructor', {}),
  command: () => ask('command.send', { command: 'mavlink.command_int', args: { command: 197 } }),
  arm: () => ask('command.send', { command: 'arm', args: {} }),
  notify: () => ask('notification.publish', { channelId: 'c', severity: 'warning', title: 'Cell low', body: '3.31 V' }),
};
const mounted = (async () => {
  for (const [name, step] of Object.entries(steps)) write(name, await step());
  window.parent.postMessage('no envelope', '*');
  window.parent.postMessage({ id: '', type: 'request', method: 'ping', args: null, version: 1 }, '*');
  write('done', 'all');
})();
export { mounted as __test };
//# sourceMappingURL=none
`;
const SETTINGS = {
  type: 'object',
  properties: {
    alarm: {
      type: 'object',
      properties: { low_v: { type: 'number', title: 'Low cell voltage', default: 3.5 } },
    },
  },
};

describe('what an extension shows in the node’s page', function () {
  this.timeout(120_000);
  let browser: Browser;
  let plugins: PluginNode;
  let page: Page;
  let seen: Watch;
  before(async function () {
    if (noBrowser() !== null) this.skip();
    [browser, plugins] = await Promise.all([openBrowser(), PluginNode.start({ config: TEST_CAMERA })]);
    page = await openPage(browser);
    page.setDefaultTimeout(15_000);
    seen = watch(page, plugins.node.url);
    await signIn(page, plugins.node.url, PluginNode.headers['x-svc-key']);
    const archive = await makeExtension({
      id: ID,
      agent: null,
      compatibility: ['ados_version: ">=0.10.0"', 'gcs_version: ">=0.5.0"'],
      lines: [
        'gcs:',
        '  entrypoint: gcs/plugin.bundle.js',
        '  isolation: iframe',
        '  permissions:',
        ...GRANTED.map((id) => `    - id: ${id.replace('-channel', '')}`),
        '    - { id: command.send, required: false }',
        '    - { id: mission.read, required: false }',
        '  contributes:',
        '    panels:',
        '      - { id: cells, slot: fc.tab, title: "Cells", order: 30 }',
        '      - { id: reticle, slot: video.overlay, title: "Reticle" }',
      ],
      files: {
        'gcs/plugin.bundle.js': CODE,
        'gcs/plugin.css': '.older-line { letter-spacing: 3px; }',
        'config-schema.json': JSON.stringify(SETTINGS),
      },
      signer: plugins.signer,
    });
    const { status, body } = await plugins.install(archive, `?requested_permissions=${GRANTED.join(',')}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    await plugins.done('POST', `/api/plugins/${ID}/enable`, {});
  });
  after(async () => {
    await Promise.all([browser?.close(), plugins?.node.stop()]);
  });

  const tab = async (): Promise<Frame> => {
    await visit(page, 'vehicle/parameters');
    await page.getByRole('tab', { name: 'Cells', exact: true }).click();
    return frameAt(page, '/assets/frame.html');
  };
  const says = async (frame: Frame, ...lines: readonly string[]): Promise<void> => {
    for (const line of lines)
      await frame.waitForFunction((text) => document.body.innerText.includes(text), line, { polling: 100 });
  };

  it('a page for the other host lives in a tab of the flight controller, and is held to its grants', async () => {
    const frame = await tab();
    await says(
      frame,
      'ping: {"ok":true}',
      'theme: known',
      'battery: {"ok":true,"linked":true}',
      'volts: number true',
      'own: {"ok":true,"linked":true}',
      'attitude: permission_denied capability_denied: telemetry.subscribe.attitude',
      'radio: handler_error the topic radio is not offered by this node',
      'topicless: schema_invalid bad args for telemetry.subscribe',
      'mark: handler_unset this node has no recording.mark',
      'mission: permission_denied capability_denied: mission.read',
      'nonsense: method_unknown unknown method constructor',
      'command: permission_denied capability_denied: command.send',
      'arm: handler_error the command arm cannot be sent from a page here',
      'notify: {"ok":true',
      'config: {"alarm":{"low_v":3.5}}',
      'done: all',
    );
    const spacing = await frame.$eval('.older-line', (line) => getComputedStyle(line).letterSpacing);
    expect(spacing).to.equal('3px');
    // What the vehicle says from now on, and nothing from before.
    expect(await frame.$eval('body', ({ innerText }) => innerText)).to.not.include(
      'telemetry.mavlink.STATUSTEXT',
    );
    await plugins.done('POST', '/api/command', { cmd: 'arm', args: [] });
    await says(frame, 'telemetry.mavlink.STATUSTEXT: ');
    await plugins.done('POST', '/api/command', { cmd: 'disarm', args: [] });
    await checkAxe(page);
  });

  it('what it tells people is shown with its name, wherever they look', async () => {
    await tab();
    await page.waitForFunction(
      () => (document.querySelector('.toasts')?.textContent ?? '').includes('Thing: Cell low: 3.31 V'),
      undefined,
      { polling: 100 },
    );
  });

  it('its settings have a section beside the node’s own, from the file of older packers; it is told of a change', async () => {
    await visit(page, 'node/config');
    await page.waitForFunction(
      () => [...document.querySelectorAll('main h2')].some((title) => title.textContent === 'Thing'),
      undefined,
      { polling: 100 },
    );
    await page.getByLabel('Low cell voltage', { exact: true }).fill('3.6');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await plugins.until(
      'it is stored',
      async () => plugins.call('GET', `/api/plugins/${ID}`),
      ({ body }) => JSON.stringify(body['settings']) === '{"alarm":{"low_v":3.6}}',
    );
    await says(await tab(), 'config: {"alarm":{"low_v":3.6}}');
  });

  it('it is in the picture once the pilot puts it there, and gone when he takes it away', async () => {
    await visit(page, 'fly');
    const button = await page.waitForSelector('.extensions__picture-overlays button');
    expect(await page.$$('iframe')).to.deep.equal([]);
    await button?.click();
    const frame = await frameAt(page, '/assets/frame.html');
    await says(frame, 'done: all');
    const back = await frame.$eval(':root', (root) => getComputedStyle(root).backgroundColor);
    expect(back).to.equal('rgba(0, 0, 0, 0)');
    await checkAxe(page);
    await button?.click();
    await page.waitForFunction(() => document.querySelector('iframe') === null, undefined, { polling: 100 });
  });

  it('a command needs the grant, and a person who holds the button for each one', async () => {
    await plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: 'command.send' });
    let frame = await tab();
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
    await cancel.click();
    await says(frame, 'command: handler_error the operator did not allow it');
    await visit(page, 'fly');
    frame = await tab();
    const allow = page.getByRole('button', { name: 'Allow once (hold)', exact: true });
    await allow.click({ delay: 1500 });
    await says(frame, 'command: {"ok":true');
  });

  it('a grant that is taken away is gone at once', async () => {
    await plugins.done('DELETE', `/api/plugins/${ID}/perms/telemetry.subscribe.battery`);
    await visit(page, 'fly');
    await says(await tab(), 'battery: permission_denied capability_denied: telemetry.subscribe.battery');
    await plugins.done('DELETE', `/api/plugins/${ID}/perms/ui.slot.fc-tab`);
    await page.waitForFunction(() => document.querySelector('iframe') === null, undefined, { polling: 100 });
    seen.check();
  });
});
