import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataflashErrorWords } from '../../shared/logs/dataflash-names.ts';
import { Spell } from '../../shared/reports/spell.ts';
import { flightReport } from '../../shared/schemas/flight-report.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { MADE_FAULTS } from '../support/made-faults.ts';
import { reportOfBytes } from '../support/report-of.ts';

const violations = validatorOf(flightReport);

describe('findings of a flight', function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-findings-'));
  });
  after(async () => rm(folder, { recursive: true }));

  for (const { fault, found, from, log } of MADE_FAULTS)
    it(`of ${fault}: ${found.join(', then ') || 'none'}`, () => {
      const report = reportOfBytes(folder, log(), 'onboard');
      expect(violations(report)).to.equal(null);
      const findings = report.findings.filter(({ severity }) => severity !== 'info');
      expect(
        findings.map(({ name }) => name),
        JSON.stringify(report.findings, null, 1),
      ).to.deep.equal(found);
      const [first] = findings;
      if (first === undefined) return;
      expect(first.from).to.be.closeTo(from, 0.6);
      for (const finding of findings) {
        expect(finding.to).to.be.at.least(finding.from ?? Infinity);
        expect(finding.at_s).to.be.within(finding.from ?? 0, finding.to ?? 0);
        expect(finding.source).to.match(/^(?:ours, after )?https:\/\//);
        expect(finding.advice).to.match(/\.$/);
        expect(finding.evidence?.message).to.match(/^\w+$/);
        expect(finding.evidence?.field).to.match(/^\w/);
      }
    });

  for (const [seconds, level] of [
    [1.9, 1],
    [2, 2],
  ] as const)
    it(`beyond the second bound for ${seconds} s, of 2 that it must last, has level ${level}`, () => {
      const spell = new Spell({ hold: 0.5, worseHold: 2 });
      const take = (at: number, value: number): void =>
        spell.take(at, { value, bounds: [15, 30], of: 'ATT.Roll', note: '' });
      // A break in between begins anew.
      for (let at = 0; at < 1.8; at += 0.1) take(at, 40);
      take(1.9, 20);
      for (let at = 2; at < 2 + seconds + 0.05; at += 0.1) take(at, 40);
      expect(spell.found(60)).to.deep.include({ from: 0, level });
    });

  it('says which core of the estimator leads, the first too', () => {
    expect([0, 1].map((code) => dataflashErrorWords(24, code))).to.deep.equal(['the first', 'the second']);
  });
});
