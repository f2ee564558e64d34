/// <reference lib="dom" />
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { checkAxe, noBrowser, openBrowser, openPage, PHONE, signIn } from '../support/browser.ts';
import { callTool, connectStdio, type OpenedPage } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };
const PIN = '7531';

describe('a person signs a call of an AI client on a page of the node', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  let token: string;
  let session: Record<string, string>;
  before(async () => {
    home = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY }, config: 'mcp:\n  token_accept_enabled: true\n' });
    const { body } = await node.post('/api/mcp/tokens', { scopes: ['read', 'flight'], label: 'ai' }, KEYED);
    token = String(body['token']);
    await node.post('/api/dashboard/pin/set', { pin: PIN }, KEYED);
    const signedIn = await node.post('/api/dashboard/pin/verify', { pin: PIN });
    session = { 'x-svc-dashboard-session': String(signedIn.body['session']) };
    await armable(node, KEYED);
  });
  after(async () => {
    await node.stop();
    await removeDir(home);
  });

  const connect = async (opened?: OpenedPage) =>
    connectStdio(
      { args: ['--target', 'agent', node.url, '--token', token, '--flight-enforced'], home },
      undefined,
      opened,
    );
  const codeIn = (url: string): string =>
    /^http:\/\/[^/]+\/#\/access\/confirm\/([A-Z0-9]{8})$/.exec(url)?.[1] ?? '';
  /** The person at the node, without a browser. */
  const answer = async (url: string, agree: boolean): Promise<void> => {
    const at = `/api/confirmations/${codeIn(url)}`;
    const { body } = await node.json(at, { headers: session });
    await node.post(`${at}/sign`, { agree, call_hash: body['call_hash'] }, session);
  };

  it('who has signed it there lets it be sent, once; the next one is asked again', async () => {
    const urls: string[] = [];
    const client = await connect(async (url) => {
      urls.push(url);
      await answer(url, true);
      return true;
    });
    const first = await callTool(client, 'flight_mode', { mode: 'GUIDED' });
    expect(first.value, JSON.stringify(first.value)).to.include({ ok: true });
    const again = await callTool(client, 'flight_mode', { mode: 'GUIDED' });
    expect(again.value).to.include({ ok: true });
    expect(new Set(urls.map(codeIn)).size, urls.join(' ')).to.equal(2);
    const { body } = await node.json('/api/confirmations', { headers: session });
    expect(body['confirmations'], 'all used').to.deep.equal([]);
    await client.close();
  });

  it('to open the page signs nothing; who refuses there, or does not open it, lets nothing be sent', async () => {
    let then: OpenedPage = async () => Promise.resolve(false);
    const client = await connect(async (url, message) => then(url, message));
    const closed = await callTool(client, 'flight_mode', { mode: 'LAND' });
    expect(closed.value).to.include({ reason: 'confirm_required' });
    then = async (url) => {
      await answer(url, false);
      return true;
    };
    const refused = await callTool(client, 'flight_mode', { mode: 'LAND' });
    expect(refused.value['reason']).to.equal('confirm_required');
    expect(String(refused.value['message'])).to.include('refused this call at the node');
    await client.close();
  });

  it('what the node would refuse is asked of nobody, and a client without pages has the terminal', async () => {
    const asked: string[] = [];
    const client = await connect(async (url) => {
      asked.push(url);
      return Promise.resolve(true);
    });
    const wrong = await callTool(client, 'flight_mode', { mode: '' });
    expect(wrong.value).to.include({ reason: 'invalid_arguments' });
    expect((await callTool(client, 'params_set', { name: 'FS_THR_ENABLE', value: 0 })).value).to.include({
      reason: 'scope_missing',
    });
    const far = await callTool(client, 'flight_goto', { lat: 48, lon: 11, alt_m: 20 });
    expect(far.value, JSON.stringify(far.value)).to.include({ reason: 'too_far' });
    expect(asked).to.deep.equal([]);
    await client.close();
    const plain = await connect();
    const { value } = await callTool(plain, 'flight_mode', { mode: 'GUIDED' });
    expect(value).to.include({ reason: 'operator_present_stale' });
    expect(String(value['message'])).to.include('svc operator confirm');
    await plain.close();
  });

  describe('on a phone', () => {
    let browser: Browser;
    before(async function () {
      if (noBrowser() !== null) this.skip();
      browser = await openBrowser('chromium', { deaf: true });
    });
    after(async () => browser?.close());

    it('a line above every page leads there: what, where, and the signature that sends it', async () => {
      const page = await openPage(browser, PHONE);
      await signIn(page, node.url, PIN);
      const client = await connect(async (url) => {
        await page.locator('.banner a', { hasText: 'flight_goto' }).click();
        await page.getByRole('heading', { name: /^Sign for/ }).waitFor();
        expect(page.url()).to.include(codeIn(url));
        await page.getByText(/m from the vehicle/).waitFor();
        await checkAxe(page);
        const kept = process.env['SVC_KEEP_PICTURE'];
        if (kept !== undefined) await page.screenshot({ path: kept });
        const slide = page.locator('.slide');
        await slide.focus();
        await page.keyboard.down('Enter');
        await page.getByText(/^Signed\./).waitFor();
        await page.keyboard.up('Enter');
        return true;
      });
      const { body } = await node.json('/api/telemetry', { headers: KEYED });
      const { lat, lon } = body['position'] as { lat: number; lon: number };
      const { value } = await callTool(client, 'flight_goto', {
        lat: lat + 0.0008,
        lon: lon + 0.0006,
        alt_m: 20,
        wait: false,
      });
      expect(value, JSON.stringify(value)).to.include({ ok: true, acked: true });
      await page.getByText(/does not wait any more/).waitFor();
      await client.close();
    });
  });
});
