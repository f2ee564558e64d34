import { expect } from 'chai';
import { conflictsIn } from '../../shared/config/conflicts.ts';
import { parseConfig } from '../../shared/config/parse.ts';

describe('members of the configuration that forbid each other', () => {
  const told = (text: string): readonly (readonly [readonly string[], string])[] =>
    conflictsIn(parseConfig(text, 'config.yaml')).map(({ keys, reason }) => [keys, reason]);

  for (const [what, text, keys, words] of [
    [
      'a ground station on a drone',
      'features:\n  ground-station: true\n',
      ['features.ground-station', 'agent.profile'],
      'profile drone',
    ],
    [
      'a detector on a ground station',
      'agent:\n  profile: ground-station\nfeatures:\n  vision: true\n',
      ['features.vision', 'agent.profile'],
      'profile ground-station',
    ],
    ['the core switched off', 'features:\n  core: false\n', ['features.core'], 'cannot be switched off'],
    [
      'a block with more video than packets',
      'radio:\n  fec_n: 3\n',
      ['radio.fec_k', 'radio.fec_n'],
      'radio.fec_k (8)',
    ],
    [
      'a base station on this machine',
      'rtk:\n  source: tcp:127.0.0.1:22\n',
      ['rtk.source'],
      'security.near_hosts',
    ],
    [
      "a caster that is a cloud's service for its machines",
      'rtk:\n  ntrip:\n    host: 169.254.169.254\n',
      ['rtk.ntrip.host'],
      'security.near_hosts',
    ],
    [
      'a store on the same cable',
      'upload:\n  endpoint: http://[fe80::1]:9000\n',
      ['upload.endpoint'],
      'security.near_hosts',
    ],
  ] as const)
    it(`are told with both keys and the reason, and a file that has them is read all the same: ${what}`, () => {
      const [[found, reason] = [[], '']] = told(text);
      expect(found).to.deep.equal(keys);
      expect(reason).to.include(words);
    });

  it('are none in what a profile has anyway', () => {
    expect(told('features:\n  ground-station: false\n  core: true\n')).to.deep.equal([]);
    expect(told('agent:\n  profile: ground-station\nfeatures:\n  ground-station: true\n')).to.deep.equal([]);
    expect(
      told(
        'security:\n  near_hosts: [127.0.0.1]\nrtk:\n  source: tcp:127.0.0.1:22\nupload:\n  endpoint: http://10.0.0.5:9000\n',
      ),
    ).to.deep.equal([]);
    expect(told('radio:\n  fec_k: 4\n  fec_n: 4\n')).to.deep.equal([]);
  });
});
