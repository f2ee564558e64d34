import { expect } from 'chai';
import type { RTCPeerConnection } from 'werift';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { FLEET } from '../../shared/rpc/fleet.ts';
import type { CallStatement } from '../../shared/schemas/fleet-statements.ts';
import { KEY } from '../support/edge.ts';
import { enrolByHand } from '../support/fleet-enrolment.ts';
import { FleetHand, newJti, newSigner, readReply, type Signer, signCall } from '../support/fleet-hand.ts';
import { TestNode } from '../support/node.ts';
import { pictures, TEST_CAMERA, untilViewers, watcher } from '../support/video-node.ts';

const NODE = 'd0d0d0d0d0d0';
const SCOPES = ['read', 'safe_write'] as const;

/** What one call has opened lives no longer than its caller could call. */
describe('a playback that a caller of the fleet has opened', function () {
  this.timeout(60_000);
  let hand: FleetHand;
  let nodeKey: Signer;
  let node: TestNode;
  let carrier: Client<typeof FLEET>;
  const peers: RTCPeerConnection[] = [];

  before(async () => {
    [hand, nodeKey] = await Promise.all([FleetHand.create(), newSigner()]);
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: TEST_CAMERA,
      prepare: async (paths) => enrolByHand(paths, { node: NODE, hand, signer: nodeKey }),
    });
    await pictures(node);
    carrier = clientOf(FLEET, { path: node.paths.fleetSocket });
    await carrier.connectOnce();
    await carrier.calls.policy({ jws: await hand.policy() });
  });
  after(async () => {
    await Promise.all(peers.map(async (peer) => peer.close()));
    carrier?.stop();
    await node?.stop();
  });

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

  /** @param token the machine token that the call shows */
  async function call(
    signer: Signer,
    token: string,
    id: string,
    asked: Pick<CallStatement, 'method' | 'path' | 'body'>,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const { nonce } = await carrier.calls.status({});
    const jws = await signCall({ signer, token }, { ...asked, node: NODE, nonce, jti: newJti() });
    const { reply } = await carrier.calls.call({ caller: id, jws });
    if (reply === null) throw new Error('no reply');
    return readReply(reply, nodeKey.jwk);
  }

  async function open(signer: Signer, token: string, id: string): Promise<void> {
    const { peer, offer } = await watcher();
    peers.push(peer);
    const body = { media_type: 'application/sdp', text: offer };
    const { status, body: answer } = await call(signer, token, id, { method: 'POST', path: '/whep', body });
    expect(status, JSON.stringify(answer)).to.equal(201);
    const { text } = answer as { readonly text: string };
    await peer.setRemoteDescription({ type: 'answer', sdp: text });
  }

  it('ends with its token, and goes on with a newer one that the same caller shows', async () => {
    const [short, renewing] = [await newSigner(), await newSigner()];
    const of = async (signer: Signer, sub: string, seconds: number): Promise<string> =>
      hand.token(signer, { sub, scopes: [...SCOPES], exp: inSeconds(seconds) });
    await open(short, await of(short, 'mc_short0001', 8), 'mc_short0001');
    await open(renewing, await of(renewing, 'mc_renews001', 8), 'mc_renews001');
    await untilViewers(node, 2);
    const newer = await of(renewing, 'mc_renews001', 3600);
    const status = await call(renewing, newer, 'mc_renews001', {
      method: 'GET',
      path: '/api/status',
      body: undefined,
    });
    expect(status.status).to.equal(200);
    await untilViewers(node, 1);
  });

  it('ends when a policy revokes its credential', async () => {
    await untilViewers(node, 1);
    await carrier.calls.policy({ jws: await hand.policy({ seq: 2, revoked: ['mc_renews001'] }) });
    await untilViewers(node, 0);
  });
});
