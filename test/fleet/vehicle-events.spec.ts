import { expect } from 'chai';
import type { NewEvent } from '../../front/fleet/event-queue.ts';
import { VehicleEvents } from '../../front/fleet/vehicle-events.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { linkState } from './rig.ts';

describe('events of the vehicle', () => {
  let now: number;
  let kept: string | null;
  let added: NewEvent[];
  let changes: number;

  beforeEach(() => {
    now = 0;
    kept = null;
    added = [];
    changes = 0;
  });

  const begin = (run = 'boot 1'): VehicleEvents =>
    new VehicleEvents({
      run,
      kept,
      append: (events, text) => {
        added.push(...events);
        kept = text;
      },
      onChange: () => changes++,
      wall: () => 5000 + now,
      now: () => now,
    });
  const kinds = (): readonly string[] => added.splice(0).map(({ kind }) => kind);
  const text = (at: number, severity: number, words: string): LinkState['statustext'][number] => ({
    at: new Date(at).toISOString(),
    severity,
    text: words,
  });

  it('are the start of the node, and what changes', () => {
    const events = begin();
    events.see(linkState({ alive: false, mode: null }));
    expect(kinds()).to.deep.equal(['node.started']);
    events.see(linkState({}));
    expect(kinds()).to.deep.equal(['vehicle.connected', 'vehicle.mode']);
    events.see(linkState({}));
    events.see(linkState({ armed: 'unknown' }));
    expect(kinds()).to.deep.equal([]);
    events.see(linkState({ armed: true, mode: 'AUTO' }));
    expect(added.map(({ detail }) => detail)).to.deep.equal([
      { mode: 'AUTO' },
      { mode: 'AUTO', from: 'GUIDED' },
    ]);
    expect(kinds()).to.deep.equal(['vehicle.armed', 'vehicle.mode']);
    events.see(null);
    expect(added[0]?.detail).to.deep.equal({ armed: true, svc_link: false });
    expect(kinds()).to.deep.equal(['vehicle.lost']);
    events.see(linkState({ armed: false, mode: 'AUTO' }));
    expect(kinds()).to.deep.equal(['vehicle.connected', 'vehicle.disarmed']);
    expect(changes).to.equal(6);
  });

  it('are another vehicle on the link, once, and one that took the place of ours, also where the process is another', () => {
    const events = begin();
    events.see(linkState({ others: [2] }));
    events.see(linkState({ others: [2] }));
    expect(kinds().filter((kind) => kind === 'vehicle.other')).to.have.length(1);
    const changed = { at: new Date(1000).toISOString(), from: 1, to: 2 };
    events.see(linkState({ others: [], changed }));
    expect(added.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
      ['vehicle.changed', { severity: 4, from: 1, to: 2 }],
    ]);
    kinds();
    begin().see(linkState({ changed }));
    expect(kinds()).to.deep.equal([]);
    events.see(linkState({ others: [2], changed }));
    expect(kinds()).to.deep.equal(['vehicle.other']);
  });

  it('are not told again by the next process, and all by the next start of the node', () => {
    const state = linkState({ armed: true, texts: [text(1, 4, 'Low battery')] });
    begin().see(state);
    expect(kinds()).to.deep.equal([
      'node.started',
      'vehicle.connected',
      'vehicle.armed',
      'vehicle.mode',
      'vehicle.message',
    ]);
    begin().see(state);
    expect(kinds()).to.deep.equal([]);
    begin().see(linkState({ armed: false, texts: [text(1, 4, 'Low battery')] }));
    expect(kinds()).to.deep.equal(['vehicle.disarmed']);
    begin('boot 2').see(state);
    expect(kinds()).to.have.length(5);
  });

  it('have equal texts within 10 s counted in one, and nothing below a warning', () => {
    const events = begin();
    kinds();
    const said: LinkState['statustext'] = [];
    for (let n = 0; n < 9; n++) {
      said.push(text(n, 3, 'EKF variance'), text(n, 6, `info ${n}`));
      events.see(linkState({ alive: false, texts: said.slice(-10) }));
      now += 1000;
    }
    expect(added.map(({ detail }) => detail)).to.deep.equal([
      { severity: 3, text: 'EKF variance', count: 1 },
    ]);
    now = 10_000;
    events.see(linkState({ alive: false, texts: said.slice(-10) }));
    expect(added.at(-1)?.detail).to.deep.equal({ severity: 3, text: 'EKF variance', count: 8 });
    expect(kinds()).to.have.length(2);
    said.push(text(-3_600_000, 3, 'after the clock was set back'));
    events.see(linkState({ alive: false, texts: said.slice(-10) }));
    expect(kinds()).to.deep.equal(['vehicle.message']);
  });

  it('are no burst, whatever the vehicle says; what changed is told in the end', () => {
    const events = begin();
    kinds();
    for (let n = 0; n < 600; n++) {
      events.see(linkState({ mode: n % 2 === 0 ? 'AUTO' : 'RTL', texts: [text(n, 1, `warning ${n}`)] }));
      now += 100;
    }
    const texts = added.filter(({ kind }) => kind === 'vehicle.message');
    expect(texts.length).to.be.below(40);
    expect(added.filter(({ kind }) => kind === 'vehicle.mode').length).to.be.below(80);
    const omitted = added
      .filter(({ kind }) => kind === 'vehicle.messages_omitted')
      .reduce((sum, { detail }) => sum + Number(detail['count']), 0);
    now += 20_000;
    events.see(linkState({ mode: 'RTL' }));
    const rest = added
      .filter(({ kind }) => kind === 'vehicle.messages_omitted')
      .reduce((sum, { detail }) => sum + Number(detail['count']), 0);
    expect(rest).to.be.at.least(omitted);
    expect(rest + texts.length).to.equal(600);
    expect(added.filter(({ kind }) => kind === 'vehicle.mode').at(-1)?.detail['mode']).to.equal('RTL');
  });
});
