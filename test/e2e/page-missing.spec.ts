import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkout, interrupt, type Run, run } from '../support/checkout.ts';
import { freePort, removeDir } from '../support/temp.ts';

/** As where the packages for developers are missing, which build it at the first `npm start`. */
describe('a node whose page was not built', function () {
  this.timeout(120_000);
  let dir: string;
  let port: number;
  let node: Run;
  before(async () => {
    dir = await checkout();
    port = await freePort();
    await rm(join(dir, 'residual/web/dist'), { recursive: true, force: true });
    await mkdir(join(dir, '.svc/etc'), { recursive: true });
    const config = `api:\n  port: ${port}\nmavlink:\n  source: sim\n  endpoints: []\nvideo:\n  source: none\n`;
    await writeFile(join(dir, '.svc/etc/config.yaml'), config);
    node = run(dir, 'node', ['bin/supervisor/main.ts', '--demo']);
    await node.shows('Ctrl-C stops everything.');
  });
  after(async () => {
    await interrupt(node);
    await removeDir(dir);
  });

  it('says so with the command where the page would be, and everything else works', async () => {
    for (const path of ['/', '/setup', '/assets/frame.html']) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      const body = (await answer.json()) as { readonly code: string; readonly detail: string };
      expect([path, answer.status, body.code]).to.deep.equal([path, 503, 'E_UPSTREAM_DOWN']);
      expect(body.detail).to.include('npm run build:web');
    }
    const services = (await (await fetch(`http://127.0.0.1:${port}/api/services`)).json()) as {
      readonly services: readonly { readonly name: string; readonly state: string }[];
    };
    expect(services.services.find(({ name }) => name === 'svc-residual')?.state).to.equal('running');
  });

  it('the doctor names it', async () => {
    const doctor = run(dir, 'node', ['bin/svc.js', 'doctor']);
    await doctor.shows('warn page:');
    await doctor.shows('In a checkout: npm run build:web.');
  });
});
