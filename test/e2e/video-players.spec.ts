import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { noBrowser, openBrowser } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import type { TestNode } from '../support/node.ts';
import { startVideoNode, TEST_CAMERA, untilViewers } from '../support/video-node.ts';

/** Bundle policies of a browser, and what its player asks for, in this order. */
const PLAYERS = [
  ['balanced', ['video']],
  ['balanced', ['audio', 'video']],
  ['max-compat', ['audio', 'video']],
  ['max-bundle', ['audio', 'video']],
  ['max-bundle', ['video', 'audio']],
  ['max-bundle', ['audio', 'video', 'data']],
] as const;

describe('a player of another page', function () {
  this.timeout(120_000);
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>'),
  );
  let origin: string;
  let node: TestNode;
  let browser: Browser;
  before(async function () {
    if (noBrowser() !== null) return this.skip();
    await once(server.listen(0, 'localhost'), 'listening');
    const address = server.address();
    origin = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
    const config = `${TEST_CAMERA}security:\n  api:\n    cors_origins: ["${origin}"]\n`;
    [node, browser] = await Promise.all([startVideoNode({ config }), openBrowser()]);
  });
  after(async () => {
    server.close();
    await browser?.close();
    await node?.stop();
  });

  for (const [policy, kinds] of PLAYERS)
    it(`${policy}, ${kinds.join(', ')}: plays with the key as a bearer, and finds its session`, async () => {
      const page = await browser.newPage();
      await page.goto(origin);
      const { status, location, etag, ended } = await page.evaluate(
        async ({ at, key, bundlePolicy, wanted }) => {
          const headers = { authorization: `Bearer ${key}` };
          const peer = new RTCPeerConnection({ bundlePolicy });
          for (const kind of wanted)
            if (kind === 'data') peer.createDataChannel('none');
            else peer.addTransceiver(kind, { direction: 'recvonly' });
          const video = document.createElement('video');
          video.muted = true;
          const played = new Promise((resolve) => video.requestVideoFrameCallback(resolve));
          peer.ontrack = ({ track }) => {
            if (track.kind !== 'video') return;
            video.srcObject = new MediaStream([track]);
            void video.play();
          };
          await peer.setLocalDescription();
          const answer = await fetch(`${at}/whep`, {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/sdp' },
            body: peer.localDescription?.sdp ?? '',
          });
          const sdp = await answer.text();
          if (!answer.ok) throw new Error(sdp);
          await peer.setRemoteDescription({ type: 'answer', sdp });
          const session = answer.headers.get('location') ?? '';
          // As browsers trickle: by the mid of the section that each belongs to.
          peer.onicecandidate = ({ candidate }) => {
            if (candidate === null) return;
            const lines = [`m=${wanted[0]} 9 UDP/TLS/RTP/SAVPF 0`, `a=mid:${candidate.sdpMid}`];
            void fetch(`${at}${session}`, {
              method: 'PATCH',
              headers: { ...headers, 'content-type': 'application/trickle-ice-sdpfrag' },
              body: [...lines, `a=${candidate.candidate}`, ''].join('\r\n'),
            });
          };
          await played;
          const gone = await fetch(`${at}${session}`, { method: 'DELETE', headers });
          peer.close();
          return {
            status: answer.status,
            location: session,
            etag: answer.headers.get('etag'),
            ended: gone.status,
          };
        },
        { at: node.url, key: KEY, bundlePolicy: policy, wanted: kinds },
      );
      expect({ status, ended }).to.deep.equal({ status: 201, ended: 200 });
      expect(location).to.match(/^\/whep\/[0-9a-f]{32}$/);
      expect(etag).to.match(/^"[0-9a-f]{16}"$/);
      await untilViewers(node, 0);
      await page.close();
    });
});
