import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Hosted } from '../../residual/app/plugins/ipc/hosted.ts';
import { Session } from '../../residual/app/plugins/ipc/session.ts';
import type { Connection } from '../../shared/plugins/connection.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('the frames that an extension reads', () => {
  it('end with the grant, once, and the reason is the grant and not svc-link', async () => {
    const folder = await tempDir();
    const path = join(folder, 'mavlink.sock');
    const granted = new Set(['mavlink.read']);
    const told: [string, unknown][] = [];
    let heard: () => void = () => undefined;
    const connection = {
      tell: (event: string, data: unknown) => {
        told.push([event, data]);
        heard();
      },
    } as unknown as Connection;
    const next = async (): Promise<void> => new Promise((resolve) => (heard = resolve));
    const host = { id: 'org.example.x', mavlinkSocket: path, components: [], grants: () => granted };
    const link = createServer().listen(path);
    try {
      await once(link, 'listening');
      const session = new Session(host as unknown as Hosted, connection);
      const came = once(link, 'connection') as Promise<[Socket]>;
      session.followMavlink(null);
      const [peer] = await came;
      const first = next();
      peer.write('{"ok":true}\n');
      peer.write(encodeAs(heartbeat(), 'v2'));
      await first;
      granted.clear();
      const closed = once(peer, 'close');
      peer.resume();
      peer.write(encodeAs(heartbeat(), 'v2'));
      await closed;
      expect(told.map(([event]) => event)).to.deep.equal(['mavlink', 'mavlink_ended']);
      expect(told[1]?.[1]).to.deep.equal({ reason: 'the permission mavlink.read was taken back' });
    } finally {
      link.close();
      await removeDir(folder);
    }
  });
});
