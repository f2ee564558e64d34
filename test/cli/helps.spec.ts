import { Config, settings } from '@oclif/core';
import { expect } from 'chai';
import SvcHelp from '../../bin/cli/help.ts';
import { ROOT } from '../support/node.ts';

/** What a terminal has at least, and oclif takes where there is none. */
const COLUMNS = 80;

settings.enableAutoTranspile = false;
const config = await Config.load(ROOT);

async function helpOf(id: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const help = new (class extends SvcHelp {
    protected override log(...texts: string[]): void {
      lines.push(...texts.join(' ').split('\n'));
    }
  })(config);
  await help.showHelp(id === '' ? [] : [id]);
  return lines;
}

describe('the help', () => {
  for (const id of new Set(['', ...config.topics.map(({ name }) => name), ...config.commandIDs]))
    it(`of svc ${id.replaceAll(':', ' ')} fits a terminal of ${COLUMNS} columns, and has no empty brackets`, async () => {
      const lines = await helpOf(id);
      expect(lines).to.not.have.length(0);
      expect(lines.filter((line) => line.length > COLUMNS)).to.deep.equal([]);
      expect(lines.filter((line) => /\| \]|\[\s*\]|\[default: \]/.test(line))).to.deep.equal([]);
    });
});
