import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { AUDIT_FILE, AUDIT_FILES, AuditLog } from '../../front/stores/audit.ts';
import { GENESIS, parse, verifyChain } from '../../shared/audit/chain.ts';
import { createLogger } from '../../shared/logger.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const log = createLogger('test', 'silent');
const record = (outcome: string) => ({
  peer: '10.0.0.5',
  principal: 'pairing-key',
  principal_kind: 'key',
  route: 'POST /api/command',
  outcome,
  rule: 'credential',
  forced: false,
});

describe('the audit file', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await tempDir();
  });
  afterEach(async () => removeDir(dir));

  const open = (maxBytes?: number): AuditLog => {
    const audit = new AuditLog({
      directory: dir,
      now: () => 1_000,
      log,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
    audit.start();
    return audit;
  };
  const text = (name = AUDIT_FILE): string => readFileSync(join(dir, name), 'utf8');
  const verify = (from: string | null = GENESIS) => verifyChain([{ name: AUDIT_FILE, text: text() }], from);

  it('chains its records, across restarts', () => {
    for (const outcome of ['a', 'b']) {
      const audit = open();
      audit.write(record(outcome));
      audit.write(record(outcome));
      audit.stop();
    }
    expect(verify()).to.include({ ok: true, records: 4 });
    expect(
      text()
        .trim()
        .split('\n')
        .map((line) => parse(line)?.seq),
    ).to.deep.equal([1, 2, 3, 4]);
    expect(statSync(join(dir, AUDIT_FILE)).mode & 0o007).to.equal(0);
  });

  it('shows an edit, a lost, a moved and an added line, at the line', () => {
    const audit = open();
    for (const outcome of ['a', 'b', 'c', 'd']) audit.write(record(outcome));
    audit.stop();
    const whole = text();
    const [a = '', b = '', c = '', d = ''] = whole.split('\n');
    const cases: readonly [string, number][] = [
      [whole.replace('"outcome":"b"', '"outcome":"x"'), 3],
      [[a, c, d, ''].join('\n'), 2],
      [[a, c, b, d, ''].join('\n'), 2],
      [[a, b, b, c, d, ''].join('\n'), 3],
      [[b, c, d, ''].join('\n'), 1],
      [`${whole}{"seq":5}\n`, 5],
      [`${whole}half`, 5],
    ];
    for (const [changed, line] of cases) {
      writeFileSync(join(dir, AUDIT_FILE), changed);
      expect(verify(), changed).to.include({ ok: false, line });
    }
  });

  it('drops half a line that a power cut left, and goes on', () => {
    const audit = open();
    audit.write(record('a'));
    audit.stop();
    appendFileSync(join(dir, AUDIT_FILE), '{"seq":2,"prev":"');
    const again = open();
    again.write(record('b'));
    again.stop();
    expect(verify()).to.include({ ok: true, records: 2 });
  });

  it('turns over at its size, keeps a bounded number of files, and the chain runs through them', () => {
    const audit = open(2000);
    for (let i = 0; i < 200; i++) audit.write(record(String(i)));
    audit.stop();
    const names = Array.from({ length: AUDIT_FILES }, (_, i) =>
      i === 0 ? AUDIT_FILE : `${AUDIT_FILE}.${i}`,
    ).toReversed();
    for (const name of names) expect(statSync(join(dir, name)).size).to.be.at.most(2000);
    expect(() => statSync(join(dir, `${AUDIT_FILE}.${AUDIT_FILES}`))).to.throw();
    expect(
      verifyChain(
        names.map((name) => ({ name, text: text(name) })),
        null,
      ),
    ).to.include({ ok: true });
  });

  it('blots out what has the shape of a secret', () => {
    const audit = open();
    audit.write({ ...record('a'), peer: KEY });
    audit.stop();
    expect(text()).to.not.include(KEY);
    expect(verify()).to.include({ ok: true });
  });

  it('does not follow a symbolic link, and a record that cannot be written stops nobody', async () => {
    await mkdir(join(dir, 'x'));
    const audit = new AuditLog({ directory: join(dir, 'x'), now: () => 1, log });
    audit.start();
    audit.stop();
    await writeFile(join(dir, 'target'), '');
    await removeDir(join(dir, 'x', AUDIT_FILE));
    await symlink(join(dir, 'target'), join(dir, 'x', AUDIT_FILE));
    audit.write(record('a'));
    expect(audit.lost).to.equal(1);
    expect(readFileSync(join(dir, 'target'), 'utf8')).to.equal('');
  });
});

describe('the audit of a node', () => {
  it('has one record for every refusal and every change, and svc audit verify checks it', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      const headers = { 'x-svc-key': KEY };
      await node.fetch('/api/status', { headers }); // a read that passes is no event
      await node.fetch('/api/status');
      await node.fetch('/api/status', { headers: { 'x-svc-key': 'svc_wrong_wrong_wrong_wrong' } });
      await node.fetch('//x');
      await node.post('/api/command', { cmd: 'mode', args: ['LOITER'] }, headers);
      const lines = readFileSync(join(node.paths.auditDir, AUDIT_FILE), 'utf8')
        .trim()
        .split('\n')
        .map((line) => parse(line));
      expect(lines.map((line) => [line?.route, line?.outcome, line?.principal])).to.deep.equal([
        ['GET /api/status', 'E_UNAUTHENTICATED', 'anonymous'],
        ['GET /api/status', 'E_UNAUTHENTICATED', 'anonymous'],
        [null, 'E_BAD_PATH', 'anonymous'],
        ['POST /api/command', 'accepted', 'pairing-key'],
      ]);
      const env = {
        ...process.env,
        SVC_ETC_DIR: node.paths.etc,
        SVC_RUN_DIR: node.paths.run,
        SVC_STATE_DIR: node.paths.state,
      };
      const svc = async (...args: string[]) =>
        promisify(execFile)(process.execPath, [join(ROOT, 'bin/svc.js'), ...args], { env });
      expect((await svc('audit', 'verify')).stdout).to.include('4 records, the chain is whole');
      const file = join(node.paths.auditDir, AUDIT_FILE);
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace('LOITER', 'x').replace('E_BAD_PATH', 'accepted'),
      );
      const broken = await svc('audit', 'verify', '--json').catch(
        (error: { code: number; stdout: string }) => error,
      );
      expect(broken).to.include({ code: 1 });
      expect(JSON.parse(broken.stdout)).to.include({ ok: false, line: 4 });
      expect(node.stderr).to.not.include('svc_wrong_wrong');
    } finally {
      await node.stop();
    }
  });
});
