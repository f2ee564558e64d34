import { expect } from 'chai';
import { common } from 'node-mavlink';
import type { RemoteIdOptions } from '../../front/link/remote-id/remote-id.ts';
import { classOf } from '../../shared/flight/remote-id.ts';
import { remoteId } from '../../shared/schemas/remote-id.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { Rig } from './rig.ts';

const valid = compileValidator(createAjv(), remoteId);
const [SELF_ID, SYSTEM, OPERATOR_ID] = [12_903, 12_904, 12_905];
/** MAV_COMP_ID_ODID_TXRX_1 */
const TRANSMITTER = 236;
const NOTHING: RemoteIdOptions = { operatorId: '', selfId: '', classification: 'undeclared', place: null };

function armStatus(status: number, error = ''): common.OpenDroneIdArmStatus {
  return Object.assign(new common.OpenDroneIdArmStatus(), { status, error });
}

function state(rig: Rig) {
  const now = rig.calls.remote_id();
  expect(valid(now)).to.equal(null);
  return now;
}

const sent = (rig: Rig, id: number) => rig.sent.filter((each) => each.id === id);

describe('Remote ID', () => {
  it('is not spoken of to a vehicle without a transmitter', async () => {
    const rig = await Rig.met();
    await rig.live(5000);
    expect(state(rig)).to.deep.equal({
      state: 'absent',
      reasons: [],
      operator_id_set: false,
      operator_place: null,
      transmitter: null,
    });
    for (const id of [SELF_ID, SYSTEM, OPERATOR_ID]) expect(sent(rig, id)).to.deep.equal([]);
    await rig.link.stop();
  });

  it('tells the transmitter once a second who flies, and from where', async () => {
    const rig = await Rig.met({
      remoteId: {
        operatorId: 'FIN87astrdge12k8',
        selfId: 'Survey',
        classification: 'eu-open-c2',
        place: { lat: 48.5, lon: -11.25, alt: 520.5 },
      },
    });
    rig.sent.length = 0;
    await rig.live(5000);
    for (const id of [SELF_ID, SYSTEM, OPERATOR_ID]) expect(sent(rig, id), String(id)).to.have.length(5);
    expect(sent(rig, OPERATOR_ID)[0]?.fields).to.include({ operatorId: 'FIN87astrdge12k8', targetSystem: 1 });
    expect(sent(rig, SELF_ID)[0]?.fields).to.include({ description: 'Survey', descriptionType: 0 });
    const [first, , last] = sent(rig, SYSTEM).map(({ fields }) => fields);
    expect(first).to.include({
      operatorLatitude: 485_000_000,
      operatorLongitude: -112_500_000,
      operatorAltitudeGeo: 520.5,
      operatorLocationType: 2,
      classificationType: 1,
      categoryEu: 1,
      classEu: 3,
      areaCount: 1,
      areaFloor: -1000,
    });
    expect(Number(last?.['timestamp']) - Number(first?.['timestamp'])).to.equal(2);
    expect(Number(first?.['timestamp'])).to.equal(
      Math.floor((rig.clock.wall() - Date.UTC(2019, 0, 1)) / 1000) - 4,
    );
    expect(state(rig)).to.include({ operator_id_set: true, operator_place: 'fixed' });
    await rig.link.stop();
  });

  it('shows what the transmitter says, in its own words, among what speaks against arming', async () => {
    const rig = await Rig.met();
    rig.say(armStatus(1, 'missing operator location'), 1, TRANSMITTER);
    expect(state(rig)).to.deep.include({
      state: 'not_ready',
      reasons: ['missing operator location'],
      transmitter: { system: 1, component: TRANSMITTER, age_s: 0 },
    });
    const { prearm } = rig.state().telemetry;
    expect(prearm.reasons.map(({ text, source }) => [text, source])).to.deep.include([
      'Remote ID: missing operator location',
      'remote_id',
    ]);
    expect(prearm.can_arm, 'that is for the vehicle to say').to.equal(null);
    rig.say(armStatus(0), 1, TRANSMITTER);
    expect(state(rig)).to.deep.include({ state: 'ready', reasons: [] });
    expect(rig.state().telemetry.prearm.reasons).to.deep.equal([]);
    await rig.live(5500);
    expect(state(rig), 'silent for 5 s').to.deep.include({ state: 'absent', transmitter: null });
    await rig.link.stop();
  });

  it('a place that was said counts before the one of the config, and for five minutes', async () => {
    const rig = await Rig.met({ remoteId: { ...NOTHING, place: { lat: 1, lon: 2, alt: null } } });
    const place = async (): Promise<unknown[]> => {
      rig.sent.length = 0;
      await rig.live(1000);
      const { fields = {} } = sent(rig, SYSTEM).at(-1) ?? {};
      return ['operatorLatitude', 'operatorLocationType', 'operatorAltitudeGeo'].map((name) => fields[name]);
    };
    expect(await place()).to.deep.equal([1e7, 2, -1000]);
    rig.calls.remote_id_place({ lat: 48, lon: 11, alt: 500 });
    expect(state(rig).operator_place).to.equal('live');
    expect(await place()).to.deep.equal([48e7, 1, 500]);
    await rig.live(300_000);
    expect(await place()).to.deep.equal([1e7, 2, -1000]);
    expect(state(rig).operator_place).to.equal('fixed');
    await rig.link.stop();
  });

  it('a transmitter that is heard is told that nothing is known', async () => {
    const rig = await Rig.met();
    rig.say(armStatus(1, 'no operator'), 1, TRANSMITTER);
    await rig.live(2000);
    expect(sent(rig, SYSTEM).at(-1)?.fields).to.include({
      operatorLatitude: 0,
      operatorLongitude: 0,
      operatorLocationType: 0,
      classificationType: 0,
    });
    expect(sent(rig, OPERATOR_ID)).to.deep.equal([]);
    await rig.link.stop();
  });

  it('the transmitter of another vehicle on the link is not this one’s', async () => {
    const rig = await Rig.met();
    rig.say(armStatus(1, 'missing operator location'), 9, TRANSMITTER);
    expect(state(rig)).to.deep.include({ state: 'absent', transmitter: null });
    rig.say(armStatus(0), 1, TRANSMITTER);
    rig.say(armStatus(1, 'missing operator location'), 9, TRANSMITTER);
    expect(state(rig)).to.deep.include({ state: 'ready', reasons: [] });
    await rig.link.stop();
  });

  it('knows the classes of the EU by their numbers', () => {
    expect(classOf('eu-specific-c6')).to.deep.equal([1, 2, 7]);
    expect(classOf('undeclared')).to.deep.equal([0, 0, 0]);
  });
});
