import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkJob } from '../../bin/helper/update/job.ts';
import { readJson } from '../../bin/helper/update/json-file.ts';
import { NodeHealth } from '../../bin/helper/update/node-health.ts';
import { readProgress, writeProgress } from '../../bin/helper/update/progress.ts';
import { installPlaces } from '../../shared/update/install-places.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('what the updater reads', () => {
  let folder: string;
  let server: Server | null;
  beforeEach(async () => {
    folder = await tempDir();
    server = null;
  });
  afterEach(async () => {
    server?.close();
    server?.closeAllConnections();
    await removeDir(folder);
  });

  const sentence = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      (value) => JSON.stringify(value),
      (error: unknown) => (error as Error).message,
    );

  it('is of the shape that it has to have, or said to be damaged', async () => {
    const places = installPlaces(folder);
    await mkdir(places.keep, { recursive: true });
    expect(await readProgress(places)).to.equal(null);
    const progress = { step: 'unpacking', percent: 5, error: null, version: '1.1.0' } as const;
    await writeProgress(places, progress);
    expect(await readProgress(places)).to.deep.equal(progress);
    for (const [text, words] of [
      ['{', 'is no JSON'],
      ['[]', 'must be an object'],
      ['{"step":"flying","percent":0,"error":null,"version":null}', 'step must be '],
    ] as const) {
      await writeFile(places.progress, text);
      expect(await sentence(readProgress(places)))
        .to.include('progress.json is damaged')
        .and.include(words);
    }
    await writeFile(places.job, '{"force":"yes","by_root":true}');
    expect(await sentence(readJson(places.job, checkJob))).to.include('job.json is damaged: force');
  });

  it('of a node that says nothing of its processes is not that all of them are well', async () => {
    let services: unknown = null;
    const socket = join(folder, 'control.sock');
    server = createServer((req, res) => {
      if (req.url === '/api/services')
        res.end(typeof services === 'string' ? services : JSON.stringify({ services }));
      else res.end(JSON.stringify({ agent_version: '1.1.0' }));
    }).listen(socket);
    await once(server, 'listening');
    const health = new NodeHealth(socket);
    for (const [said, words] of [
      [null, 'does not say which processes'],
      ['{', 'no JSON'],
      [[], 'no process'],
      [[null], 'no process'],
      [[{ kind: 'process', name: 'svc-link', state: 'parked' }], 'svc-link is parked'],
    ] as const) {
      services = said;
      expect(await sentence(health.check('1.1.0'))).to.include(words);
    }
    services = [{ kind: 'process', name: 'svc-link', state: 'running', pid: 7 }];
    expect(await health.check('1.1.0')).to.equal('[["svc-link",7]]');
  });
});
