import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const headers = { 'x-svc-key': KEY, 'content-type': 'application/json' };

describe('a flight command that is waited for', function () {
  this.timeout(120_000);
  let node: TestNode;

  const command = async (
    body: Record<string, unknown>,
  ): Promise<{ status: number; body: Record<string, unknown> }> =>
    node.json('/api/command', { method: 'POST', headers, body: JSON.stringify(body) });

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await armable(node, { 'x-svc-key': KEY });
    await command({ cmd: 'mode', args: ['GUIDED'] });
  });

  after(async () => node.stop());

  it('only for commands that come to an end; what the vehicle refuses is answered at once', async () => {
    const refused = await command({ cmd: 'arm', wait: true });
    expect(refused.status).to.equal(400);
    expect(refused.body['detail']).to.include('takeoff, goto, land, rtl');
    const { body } = await command({ cmd: 'takeoff', args: [5], wait: true }); // it is not armed
    expect(body).to.include({ status: 'rejected' }).and.not.have.any.keys('done', 'ended');
  });

  it('answers when it is there, and tells its progress as events meanwhile', async () => {
    expect((await command({ cmd: 'arm' })).body).to.include({ status: 'accepted' });
    const answer = await fetch(`${node.url}/api/command`, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body: JSON.stringify({ cmd: 'takeoff', args: [5], wait: true }),
    });
    const text = await answer.text();
    expect(text).to.match(
      /event: progress\ndata: \{"done":[\d.]+,"total":120,"text":"climbing to 5 m: GUIDED, armed/,
    );
    const result = JSON.parse(/event: result\ndata: (.*)/.exec(text)?.[1] ?? '') as {
      status: number;
      body: Record<string, unknown>;
    };
    expect(result.status).to.equal(200);
    expect(result.body).to.include({ status: 'accepted', done: true, ended: 'reached' });
    const { telemetry } = await linkState(node, () => true);
    expect(telemetry.position.alt_rel).to.be.greaterThan(4);
  });

  it('says that the time is over, or that another mode took over, and stops nothing', async () => {
    const { telemetry } = await linkState(node, ({ telemetry: { position } }) => position.lat !== null);
    const away = [(telemetry.position.lat ?? 0) + 0.01, telemetry.position.lon ?? 0, 5];
    const late = await command({ cmd: 'goto', args: away, wait: true, wait_s: 1 });
    expect(late.body).to.include({ status: 'accepted', done: false, ended: 'timeout' });
    const waiting = await fetch(`${node.url}/api/command`, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body: JSON.stringify({ cmd: 'goto', args: away, wait: true, wait_s: 60 }),
    });
    let text = '';
    let told = false;
    const decoder = new TextDecoder();
    for await (const chunk of waiting.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      // The mode that the command brought is known after 3 s; the next one is another will.
      if (told || !/"done":[4-9]/.test(text)) continue;
      told = true;
      await command({ cmd: 'stop' });
    }
    expect(text.slice(text.indexOf('event: result'))).to.include('"done":false,"ended":"mode_changed"');
    const landed = await command({ cmd: 'land', wait: true });
    expect(landed.body).to.include({ done: true, ended: 'reached' });
    expect((await linkState(node, () => true)).armed).to.equal(false);
  });
});
