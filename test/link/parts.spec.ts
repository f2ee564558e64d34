import { expect } from 'chai';
import { LINK } from '../../shared/rpc/link.ts';
import { Rig } from './rig.ts';

describe('the parts of the link', () => {
  it('in the list each method of the contract has one part', () => {
    const { list } = new Rig().link.parts;
    const answered = list.flatMap(({ methods = {} }) => Object.keys(methods));
    expect(answered.toSorted()).to.deep.equal(Object.keys(LINK.methods).toSorted());
  });
});
