import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
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
        expect(finding.source).to.match(/^https:\/\//);
        expect(finding.advice).to.match(/\.$/);
        expect(finding.evidence?.message).to.match(/^\w+$/);
        expect(finding.evidence?.field).to.match(/^\w/);
      }
    });
});
