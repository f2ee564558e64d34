import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { Denial } from '../../connector/denial.ts';
import { bind, canonical, sameCall } from '../../connector/gate/call-hash.ts';
import { Questions } from '../../connector/gate/questions.ts';
import { RateLimiter } from '../../connector/gate/rate-limit.ts';
import { maskArguments } from '../../connector/mask-arguments.ts';
import type { BootTime } from '../../shared/boot-clock.ts';
import { maskSecrets } from '../../shared/mask.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { presenceAge, renewPresence } from '../../shared/operator/presence.ts';
import {
  fileCall,
  giveSignatureBack,
  isSigned,
  pendingCall,
  signCall,
  spendSignature,
  takeSignature,
} from '../../shared/operator/signed-confirm.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const at = (uptime: number, boot = 'b1'): BootTime => ({ boot_id: boot, uptime });

describe('what a confirmation is bound to', () => {
  it('the order of members says nothing; any other change is another call', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        (args, name, value) => {
          const turned = Object.fromEntries(Object.entries(args).toReversed());
          expect(sameCall(bind('t', 'n', args), bind('t', 'n', turned))).to.equal(true);
          const other = { ...args, [name]: value };
          const counts = !['confirm', 'confirm_id', 'node'].includes(name);
          const same = canonical(other) === canonical(args) || !counts;
          expect(sameCall(bind('t', 'n', args), bind('t', 'n', other))).to.equal(same);
          expect(sameCall(bind('t', 'n', args), bind('t', 'm', args))).to.equal(false);
          expect(sameCall(bind('t', 'n', args), bind('u', 'n', args))).to.equal(false);
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });
});

describe('arguments in one form', () => {
  it('is JSON with sorted members; what JSON does not have is an error, or nothing', () => {
    expect(canonical({ b: [1, 'x', null], a: { d: true, c: undefined } })).to.equal(
      '{"a":{"d":true},"b":[1,"x",null]}',
    );
    expect([canonical(undefined), canonical([]), canonical({})]).to.deep.equal(['null', '[]', '{}']);
    expect(canonical([1, 23])).to.not.equal(canonical([12, 3]));
    expect(canonical({ 0: 'x' })).to.not.equal(canonical(['x']));
    for (const number of [NaN, Infinity, -Infinity])
      expect(() => canonical({ number })).to.throw('a number that JSON does not have');
  });
});

describe('questions to a person', () => {
  it('each is answered once; of more than 256 the oldest are forgotten', () => {
    const questions = new Questions();
    const ids = Array.from({ length: 256 }, () => questions.ask());
    expect(new Set(ids).size).to.equal(256);
    expect([questions.answer('x'), questions.answer(ids[0] ?? '')]).to.deep.equal([false, true]);
    expect(questions.answer(ids[0] ?? ''), 'again').to.equal(false);
    questions.ask();
    expect(questions.answer(ids[1] ?? '')).to.equal(true);
    for (let i = 0; i < 3; i++) questions.ask();
    expect(ids.slice(2, 6).map((id) => questions.answer(id))).to.deep.equal([false, false, true, true]);
  });
});

describe('a signed confirmation', () => {
  let home: string;
  before(async () => {
    home = await tempDir();
  });
  after(async () => removeDir(home));

  it('holds for this call, for 60 s, in this boot, once', async () => {
    const files = operatorFiles({ SVC_OPERATOR_DIR: `${home}/a` });
    const call = bind('flight_arm', 'n1', {});
    const code = await fileCall(files, { ...call, args: {} }, at(100));
    const pending = pendingCall(files, code, at(110));
    expect(pending).to.include({ tool: 'flight_arm', node: 'n1', code });
    if (pending === null) return;
    expect(isSigned(files, { ...call, code }, at(110))).to.equal(false);
    await ensureOperatorKey(files);
    await signCall(files, pending, at(120));
    expect(isSigned(files, { ...call, code }, at(179))).to.equal(true);
    expect(isSigned(files, { ...call, code }, at(181)), 'too late').to.equal(false);
    expect(isSigned(files, { ...call, code }, at(130, 'b2')), 'after a reboot').to.equal(false);
    expect(isSigned(files, { ...call, node: 'n2', code }, at(130)), 'another node').to.equal(false);
    expect(
      isSigned(files, { ...bind('flight_arm', 'n1', { x: 1 }), code }, at(130)),
      'other arguments',
    ).to.equal(false);
    expect(isSigned(files, { ...bind('flight_land', 'n1', {}), code }, at(130)), 'another tool').to.equal(
      false,
    );
    expect(takeSignature(files, code)).to.equal(true);
    expect(takeSignature(files, code), 'a second time').to.equal(false);
    expect(isSigned(files, { ...call, code }, at(130)), 'while it is taken').to.equal(false);
    giveSignatureBack(files, code);
    expect(isSigned(files, { ...call, code }, at(130)), 'given back').to.equal(true);
    expect(takeSignature(files, code)).to.equal(true);
    spendSignature(files, code);
    giveSignatureBack(files, code);
    expect(isSigned(files, { ...call, code }, at(130)), 'used up').to.equal(false);
  });

  it('of a file that has not the shape of a call is none: nobody is shown what they would not sign', async () => {
    const files = operatorFiles({ SVC_OPERATOR_DIR: `${home}/d` });
    const call = bind('flight_arm', 'n1', {});
    const code = await fileCall(files, { ...call, args: {} }, at(1));
    const path = `${files.pending}/${code}.json`;
    const good = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    expect(pendingCall(files, code, at(2))).to.not.equal(null);
    for (const change of [
      { tool: 7 },
      { node: null },
      { argsHash: undefined },
      { code: 'ABCDEFGH' },
      { summary: {} },
    ]) {
      await writeFile(path, JSON.stringify({ ...good, ...change }), { mode: 0o600 });
      expect(pendingCall(files, code, at(2)), JSON.stringify(change)).to.equal(null);
    }
  });

  it('by another key is none', async () => {
    const files = operatorFiles({ SVC_OPERATOR_DIR: `${home}/b` });
    const other = operatorFiles({ SVC_OPERATOR_DIR: `${home}/c` });
    const call = bind('flight_arm', 'n1', {});
    const code = await fileCall(files, { ...call, args: {} }, at(1));
    await ensureOperatorKey(files);
    await ensureOperatorKey(other);
    const pending = pendingCall(files, code, at(1));
    if (pending !== null) await signCall({ ...files, key: other.key }, pending, at(2));
    expect(isSigned(files, { ...call, code }, at(3))).to.equal(false);
  });
});

describe('the operator-present signal', () => {
  it('is as old as it is, void after a reboot, and none when others may write it', async () => {
    const home = await tempDir();
    const files = operatorFiles({ SVC_OPERATOR_DIR: home });
    try {
      expect(presenceAge(files, at(5))).to.equal(null);
      await ensureOperatorKey(files);
      await renewPresence(files, at(5), 1);
      expect(presenceAge(files, at(12))).to.equal(7);
      expect(presenceAge(files, at(12, 'b2'))).to.equal(null);
      expect(presenceAge(files, at(1)), 'from the future').to.equal(null);
      const signal = await readFile(files.presence, 'utf8');
      await writeFile(files.presence, signal.replace('"uptime":5', '"uptime":11'));
      expect(presenceAge(files, at(12)), 'not what the operator signed').to.equal(null);
      await chmod(files.presence, 0o666);
      expect(() => presenceAge(files, at(12))).to.throw(/written by others/);
      await mkdir(`${home}/d`);
      await writeFile(`${home}/d/presence.json`, 'null', { mode: 0o600 });
      expect(() => presenceAge(operatorFiles({ SVC_OPERATOR_DIR: `${home}/d` }), at(1))).to.throw(
        /not a JSON object/,
      );
    } finally {
      await removeDir(home);
    }
  });
});

describe('the rate limit', () => {
  it('lets a burst through, then ten a second, and says how long to wait', () => {
    const clock = { now: 0 };
    const limiter = new RateLimiter({ perSecond: 10, burst: 3 }, () => clock.now);
    for (let call = 0; call < 3; call++) limiter.spend('a');
    expect(() => limiter.spend('a'))
      .to.throw(Denial)
      .with.deep.property('detail', { retryAfterMs: 100 });
    limiter.spend('b');
    clock.now += 100;
    limiter.spend('a');
  });

  it('is kept for 1024 callers: whoever has not called for longest is forgotten', () => {
    const limiter = new RateLimiter({ perSecond: 10, burst: 1 }, () => 0);
    limiter.spend('first');
    limiter.spend('second');
    expect(() => limiter.spend('first')).to.throw(Denial); // which makes it the newest
    for (let caller = 0; caller < 1022; caller++) limiter.spend(`c${caller}`);
    expect(() => limiter.spend('second')).to.throw(Denial); // all of them have room
    for (const wanted of ['first', 'c0', 'c1']) expect(() => limiter.spend(wanted), wanted).to.throw(Denial);
    limiter.spend('one more'); // for which c2 goes
    expect(() => limiter.spend('c3')).to.throw(Denial);
    limiter.spend('c2');
  });
});

describe('redaction', () => {
  it('masks by name and by shape, keeps what is no secret', () => {
    const seen = maskSecrets({
      ssid: 'field',
      passphrase: 'correct horse',
      list: [{ psk: 'x', apiKey: '', token_id: 'mct_1' }],
      code: 'ABCDEF',
      error: { code: 'E_ARMED' },
      text: `key svc_${'a'.repeat(43)}`,
      pairing_code_required: true,
    });
    expect(seen).to.deep.equal({
      ssid: 'field',
      passphrase: '***',
      list: [{ psk: '***', apiKey: '', token_id: 'mct_1' }],
      code: '***',
      error: { code: 'E_ARMED' },
      text: 'key ***',
      pairing_code_required: true,
    });
    expect(maskArguments({ key: 'network.hotspot.password', value: 'x' })).to.deep.equal({
      key: 'network.hotspot.password',
      value: '***',
    });
  });
});
