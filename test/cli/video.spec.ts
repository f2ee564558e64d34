import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import type { TestNode } from '../support/node.ts';
import { decodeJpeg } from '../support/pictures.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode, TEST_CAMERA } from '../support/video-node.ts';

describe('svc and the camera', function () {
  this.timeout(120_000); // each call is a process of its own
  let node: TestNode;
  let dir = '';
  const run = async (...args: string[]): ReturnType<typeof svc> => svc(node.paths, ...args);

  before(async () => {
    dir = await tempDir();
    node = await startVideoNode({
      config: `${TEST_CAMERA}  cameras: [{id: tail, name: Tail, source: test}]\n`,
    });
  });
  after(async () => {
    await node.stop();
    await removeDir(dir);
  });

  it('snapshot: the picture of now is in the file; where it cannot be, a sentence', async () => {
    const file = join(dir, 'now.jpg');
    const { code, stdout, stderr } = await run('snapshot', file);
    expect(code, stderr).to.equal(0);
    const picture = await readFile(file);
    expect(stdout.trim()).to.equal(`${file}: ${picture.length} bytes`);
    expect((await decodeJpeg(picture)).width).to.be.greaterThan(0);
    const nowhere = await run('snapshot', join(dir, 'no', 'now.jpg'));
    expect(nowhere.code).to.not.equal(0);
    expect(nowhere.stderr)
      .to.include('ENOENT')
      .and.to.not.match(/Error:.*Error/);
    expect(nowhere.stderr).to.not.match(/^ +at /m);
    // Drawn boxes need a detector, and none is chosen: refused, and no file is left.
    const boxes = join(dir, 'boxes.jpg');
    expect((await run('snapshot', boxes, '--boxes')).code).to.equal(EXIT.refused);
    expect(await readFile(boxes).catch(() => 'none')).to.equal('none');
  });

  it('recording: start, stop, and the list that has it', async () => {
    const started = await run('recording', 'start');
    const name = /^Recording to (\S+)$/m.exec(started.stdout)?.[1] ?? '';
    expect(name, started.stderr).to.match(/\.mp4$/);
    expect((await run('recording', 'start')).code).to.equal(EXIT.refused);
    expect((await run('recording')).stdout).to.include(`Recording to ${name}`);
    expect((await run('recording', 'stop')).stdout).to.include(`${name}: `);
    const list = (await run('recording', 'list')).stdout;
    expect(list).to.include('Nothing is recorded at the moment.').and.to.include(name);
    expect((await run('recording', 'stop')).code).to.equal(EXIT.refused);
  });

  it('camera: the list, another one, and none of that name', async () => {
    const shown = async (): Promise<unknown> => JSON.parse((await run('camera', '--json')).stdout);
    expect((await run('camera')).stdout).to.match(
      /^ID +NAME +SOURCE\nmain +main +test +shown\ntail +Tail +test$/m,
    );
    const { code, stdout, stderr } = await run('camera', 'tail');
    expect(code, stderr).to.equal(0);
    expect(stdout.trim()).to.equal('tail is shown (bars).');
    expect(await shown()).to.include({ camera_id: 'tail' });
    const none = await run('camera', 'nose');
    expect([none.code, none.stderr]).to.deep.equal([EXIT.refused, none.stderr]);
    expect(none.stderr).to.include('No camera is called nose');
  });

  it('stream: addresses at which the picture is, here by the name of the node and elsewhere by the one given', async () => {
    const host = `127.0.0.1:${node.port}`;
    const { stdout } = await run('stream', '--host', host, '--key', KEY);
    expect(stdout)
      .to.match(/^video {2}running$/m)
      .and.to.include(`http://${host}/whep`);
    const mp4 = /^MP4 +(\S+)$/m.exec(stdout)?.[1] ?? '';
    const stop = new AbortController();
    const answer = await fetch(mp4, { headers: KEYED, signal: stop.signal });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).to.deep.equal([
      200,
      'video/mp4',
    ]);
    stop.abort();
    const here = JSON.parse((await run('stream', '--json')).stdout) as Record<string, unknown>;
    expect(here['mp4']).to.match(
      new RegExp(`^http://svc-[0-9a-z-]+\\.local:${node.port}/api/video/live\\.mp4$`),
    );
  });

  it('node name: shown, changed, and refused as the config refuses it', async () => {
    expect((await run('node', 'name')).stdout).to.match(/^svc-[0-9a-z]+$/m);
    const named = (await run('node', 'name', 'kestrel')).stdout;
    expect(named).to.include('Its name is kestrel.').and.to.include('svc services restart svc-control');
    await run('services', 'restart', 'svc-control', '--force');
    await askAgain(
      'the restarted process answers',
      async () => run('node', 'name'),
      ({ stdout }) => stdout.trim() === 'kestrel',
    );
    expect((await run('node', 'name', 'k'.repeat(65))).code).to.equal(EXIT.refused);
  });
});
