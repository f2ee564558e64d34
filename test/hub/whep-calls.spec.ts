import { join } from 'node:path';
import { expect } from 'chai';
import type { RTCPeerConnection } from 'werift';
import { openFleet } from '../../connector/planes/open-fleet.ts';
import type { Settings } from '../../connector/settings.ts';
import { whepByCalls } from '../../residual/web/src/video/whep-calls.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { CallStatement, Reply } from '../../shared/schemas/fleet-statements.ts';
import { turnCredentials } from '../../shared/video/turn-credentials.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, pictures, play, type Unit, untilViewers, watcher } from '../support/video-node.ts';

type Body = Readonly<Record<string, unknown>>;
type Call = Pick<CallStatement, 'method' | 'path' | 'body'>;

interface Caller {
  /** Of its credential. */
  readonly id: string;
  readonly call: (call: Call) => Promise<Reply>;
  readonly stop: () => void;
}

const SECRET = 'shared-by-coturn-and-node';
const SDP = 'application/sdp';
const FRAGMENT = 'application/trickle-ice-sdpfrag';
const missing = noMosquitto();

describe(`WHEP by calls over the broker${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let folder: string;
  let hub: TestHub;
  let node: TestNode;
  let id: string;
  const callers: Caller[] = [];

  before(async function () {
    if (missing !== null) this.skip();
    folder = await tempDir();
    [hub, node] = await Promise.all([
      TestHub.start(),
      TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        // No server is there: what is looked at is who is told of it.
        config: `video:\n  source: test\n  radio: ''\n  ice:\n    servers: [{urls: ['turn:127.0.0.1:9?transport=tcp'], secret: '${SECRET}'}]\n`,
      }),
    ]);
    await pictures(node);
    const { body } = await hub.call('POST', '/v1/codes');
    const url = `https://127.0.0.1:${hub.httpsPort}`;
    const joined = await svc(node.paths, 'fleet', 'enroll', url, String(body['code']));
    expect(joined.code, joined.stderr).to.equal(0);
    const { body: fleet } = await node.json('/api/fleet', { headers: KEYED });
    id = String((fleet['enrollment'] as Body)['node']);
    await hub.streamed(
      (_event, data) => data['id'] === id && data['online'] === true && data['status'] !== null,
    );
  });
  after(async () => {
    for (const { stop } of callers) stop();
    await Promise.all([hub?.stop(), node?.stop()]);
    if (folder !== undefined) await removeDir(folder);
  });

  async function caller(scopes: readonly Scope[]): Promise<Caller> {
    const { body } = await hub.call('POST', '/v1/credentials', { body: { label: 'viewer', scopes } });
    const settings = {
      token: String(body['credential']),
      gcs: hub.url,
      cloudUrl: null,
      mqttUrl: null,
      hubCa: null,
      keysDir: join(folder, `keys-${callers.length}`),
    } as Settings;
    const plane = await openFleet(settings, { SVC_OPERATOR_DIR: folder }, createLogger('test', 'error'));
    await plane.caller.whenConnected(10_000);
    const made: Caller = {
      id: String(body['id']),
      call: async (call) =>
        plane.caller.call({
          node: id,
          timeoutMs: 15_000,
          signal: undefined,
          confirm: null,
          body: undefined,
          ...call,
        }),
      stop: () => plane.stop(),
    };
    callers.push(made);
    return made;
  }

  interface Watched {
    readonly peer: RTCPeerConnection;
    readonly session: string;
    readonly answer: Body;
    readonly more: (count: number) => Promise<void>;
  }

  /** Plays the picture; signalling goes over the broker alone. */
  async function watch(by: Caller): Promise<Watched> {
    let answer: Body = {};
    let wake: () => void = () => undefined;
    const units: Unit[] = [];
    const { peer, session } = await play(
      node,
      (unit) => {
        units.push(unit);
        wake();
      },
      async (text) => {
        const reply = await by.call({ method: 'POST', path: '/whep', body: { media_type: SDP, text } });
        answer = reply.body as Body;
        return { status: reply.status, sdp: String(answer['text']), at: String(answer['location']) };
      },
    );
    const more = async (count: number): Promise<void> => {
      const wanted = units.length + count;
      while (units.length < wanted) await new Promise<void>((resolve) => (wake = resolve));
    };
    return { peer, session, answer, more };
  }

  it('offer, answer, candidates, restart and end travel; the picture does not', async () => {
    const by = await caller(['read', 'safe_write']);
    const { peer, session, answer, more } = await watch(by);
    await more(30);
    expect(answer).to.have.all.keys('media_type', 'text', 'location', 'etag', 'link');
    expect(answer['media_type']).to.equal(SDP);
    expect(answer['link']).to.match(
      new RegExp(
        `^<turn:127\\.0\\.0\\.1:9\\?transport=tcp>; rel="ice-server"; username="\\d+:${id}-[0-9a-f]{8}"; credential="`,
      ),
    );
    expect(JSON.stringify(answer)).to.not.include(SECRET);
    const patch = async (text: string, ifMatch?: string): Promise<Reply> =>
      by.call({
        method: 'PATCH',
        path: session,
        body: { media_type: FRAGMENT, text, ...(ifMatch === undefined ? {} : { if_match: ifMatch }) },
      });
    const trickled = await patch('a=end-of-candidates\r\n', String(answer['etag']));
    expect([trickled.status, trickled.body]).to.deep.equal([204, null]);
    expect((await patch('\r\n', '"another"')).status).to.equal(412);
    for (const wrong of ['"a"\r\nx-svc-key: b', 'W/"a"', '', '*, "a"'])
      expect((await patch('\r\n', wrong)).status, wrong).to.equal(422);
    const restarted = await patch(`a=ice-ufrag:Wxyz\r\na=ice-pwd:${'p'.repeat(24)}\r\n`, '*');
    expect(restarted.status, JSON.stringify(restarted.body)).to.equal(200);
    expect(restarted.body).to.have.all.keys('media_type', 'text', 'etag', 'link');
    expect((restarted.body as Body)['text']).to.match(/^a=ice-ufrag:/);
    const ended = await by.call({ method: 'DELETE', path: session });
    expect([ended.status, ended.body]).to.deep.equal([200, { ended: true }]);
    await untilViewers(node, 0);
    await peer.close();
  });

  it('the player of the pages signals by calls as it does by HTTP', async () => {
    const by = await caller(['read', 'safe_write']);
    const whep = whepByCalls(by.call, ({ status }) => new Error(String(status)));
    const { peer, offer } = await watcher();
    const { answer, session, servers } = await whep.offer(offer);
    await peer.setRemoteDescription({ type: 'answer', sdp: answer });
    const [server] = servers;
    expect(server?.urls).to.equal('turn:127.0.0.1:9?transport=tcp');
    const { username = '', credential } = server ?? {};
    const [expiry = '', name = ''] = username.split(':');
    expect(name).to.match(new RegExp(`^${id}-[0-9a-f]{8}$`)); // of this viewer alone
    expect(credential).to.equal(turnCredentials(SECRET, name, Number(expiry)).credential);
    expect(await whep.patch(session, '\r\n', false)).to.deep.equal({
      status: 204,
      fragment: '',
      servers: [],
    });
    const fresh = `a=ice-ufrag:Wxyz\r\na=ice-pwd:${'p'.repeat(24)}\r\n`;
    const restarted = await whep.patch(session, fresh, true);
    expect(restarted).to.include({ status: 200 });
    expect([restarted.servers.length, restarted.fragment]).to.satisfy(
      ([count, text]: readonly [number, string]) => count === 1 && text.startsWith('a=ice-ufrag:'),
    );
    whep.end(session);
    await untilViewers(node, 0);
    await peer.close();
    const lost = await whep.offer('v=0').catch((error: Error) => error.message);
    expect(lost).to.equal('400');
  });

  it('who may only read gets none; another caller reaches no playback of the first', async () => {
    const [by, reader, other] = [
      await caller(['read', 'safe_write']),
      await caller(['read']),
      await caller(['read', 'safe_write']),
    ];
    const { peer, session, more } = await watch(by);
    await more(5);
    const offer = await watcher();
    const refused = await reader.call({
      method: 'POST',
      path: '/whep',
      body: { media_type: SDP, text: offer.offer },
    });
    expect([refused.status, (refused.body as Body)['code']]).to.deep.equal([403, 'E_SCOPE']);
    await offer.peer.close();
    const text = '\r\n';
    for (const call of [
      { method: 'PATCH', path: session, body: { media_type: FRAGMENT, text } },
      { method: 'DELETE', path: session },
    ] as const)
      expect((await other.call(call)).status, call.method).to.equal(404);
    await more(5);
    await by.call({ method: 'DELETE', path: session });
    await peer.close();
  });

  it('a text of another kind is no body of WHEP, and WHEP is no way to send one elsewhere', async () => {
    const by = await caller(['read', 'safe_write']);
    for (const [path, body] of [
      ['/whep', { media_type: 'text/html', text: 'v=0' }],
      ['/whep', 'v=0'],
      ['/api/video/record/start', { media_type: SDP, text: '{}' }],
    ] as const)
      expect((await by.call({ method: 'POST', path, body })).status, path).to.be.oneOf([400, 415, 422]);
    const nonsense = await by.call({ method: 'POST', path: '/whep', body: { media_type: SDP, text: 'v=0' } });
    expect([nonsense.status, (nonsense.body as Body)['code']]).to.deep.equal([400, 'E_BAD_REQUEST']);
  });

  it('a credential that the hub revokes ends the picture that it opened', async () => {
    const by = await caller(['read', 'safe_write']);
    const { peer, more } = await watch(by);
    await more(5);
    const { status } = await hub.call('DELETE', `/v1/credentials/${by.id}`);
    expect(status).to.be.oneOf([200, 204]);
    await askAgain(
      'nobody watches',
      async () => (await node.json('/api/video', { headers: KEYED })).body['viewers'],
      (viewers) => viewers === 0,
    );
    await peer.close();
  });

  it('a node that leaves its fleet ends what the fleet watches', async () => {
    const by = await caller(['read', 'safe_write']);
    const { peer, more } = await watch(by);
    await more(5);
    const left = await node.json('/api/fleet/enrollment', { method: 'DELETE', headers: KEYED });
    expect(left.status).to.equal(200);
    await untilViewers(node, 0);
    await peer.close();
  });
});
