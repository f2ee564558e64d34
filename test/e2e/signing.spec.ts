import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiError } from '../../shared/errors.ts';
import type { SigningEnrolled, SigningState } from '../../shared/rpc/link-answers.ts';
import { commandLong, GroundStation } from '../link/ground-station.ts';
import { LinkProcess } from '../link/link-process.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const KEY = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

const CAMERA = {
  name: 'test',
  codec: null,
  width: null,
  height: null,
  fps: null,
  bitrate_kbps: null,
  recording_ms: null,
  storage: null,
  follow_port: null,
  outputs: [],
};

const enrol = async (link: LinkProcess, key = KEY, force = false): Promise<SigningEnrolled> =>
  link.calls.signing_enrol({ key_hex: key, link_id: 3, force });
const stateOf = async (link: LinkProcess): Promise<SigningState> => link.calls.signing({});
const refusal = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no refusal',
    ({ code }: ApiError) => code,
  );

/** @param given arguments of svc-sim, and lines of the `mavlink` section of the config */
async function met(
  ...given: (string | readonly string[])[]
): Promise<{ sim: SimProcess; link: LinkProcess } & AsyncDisposable> {
  const args = given.filter((one) => typeof one === 'string');
  const sim = await SimProcess.start(...args);
  const lines = given.find((one): one is readonly string[] => typeof one !== 'string');
  const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`, lines);
  // A vehicle that signs does not hear an unsigned request for its parameters.
  const mute = args.includes('--signing-key');
  await link.until(
    ({ mavlink_alive, params: { cached, priming } }) => mavlink_alive && (mute || (cached > 0 && !priming)),
  );
  return {
    sim,
    link,
    async [Symbol.asyncDispose]() {
      await link.stop();
      await sim[Symbol.asyncDispose]();
    },
  };
}

describe('signing', () => {
  it('enrolled once the vehicle signs: then our frames are signed, the vehicle obeys, and both are counted', async () => {
    await using node = await met();
    const { link } = node;
    const before = await stateOf(link);
    expect(before.capability).to.include({ supported: true, reason: 'ok', firmware_name: 'ArduPilot' });
    expect(before).to.include({ signing: false, key_id: null, require: null });
    expect(before.counters).to.include({ tx_signed_count: 0, rx_signed_count: 0, last_signed_rx_at: null });
    const result = await enrol(link);
    expect(result).to.include({ success: true, key_id: (await stateOf(link)).key_id });
    expect(result['key_id']).to.match(/^[0-9a-f]{8}$/);
    // The simulator takes nothing unsigned any more.
    expect((await link.command('arm')).status).to.equal('accepted');
    const { counters, signing } = await stateOf(link);
    expect(signing).to.equal(true);
    expect(counters.tx_signed_count).to.be.greaterThan(0);
    expect(counters.rx_verified_count).to.be.within(1, counters.rx_signed_count);
    expect(counters.rx_bad_signature_count).to.equal(0);
    expect(link.stderr).to.not.include(KEY);
  });

  it('a vehicle that signs with a key that the node does not have: said, until the key is enrolled; another replaces it', async () => {
    await using node = await met('--signing-key', KEY);
    const { link } = node;
    expect((await stateOf(link)).signing).to.equal(false);
    const lost = await link.until(({ problems }) => problems.length > 0);
    expect(lost.problems.map(({ code }) => code)).to.deep.equal(['signing_lost']);
    expect((await link.command('arm')).status).to.equal('no_ack');
    await link.until(({ guard }) => guard === false); // it may yet carry out what it has not answered
    await enrol(link);
    await link.until(({ problems }) => problems.length === 0);
    await link.until(({ params: { cached, priming } }) => cached > 0 && !priming);
    expect((await link.command('arm')).status).to.equal('accepted');
    expect((await link.command('disarm')).status).to.equal('accepted');
    await link.until(({ guard }) => guard === false);
    const first = (await stateOf(link)).key_id;
    await enrol(link, OTHER);
    expect((await stateOf(link)).key_id).to.not.equal(first);
    expect((await link.command('arm')).status).to.equal('accepted');
  }).timeout(120_000);

  it('the key outlives svc-link, in a file for nobody else; disabled, it is gone', async () => {
    const state = await tempDir();
    await using sim = await SimProcess.start('--sysid', '7');
    const start = async (): Promise<LinkProcess> =>
      LinkProcess.start(`tcp:127.0.0.1:${sim.port}`, undefined, { SVC_STATE_DIR: state });
    const first = await start();
    await first.until(({ mavlink_alive, params }) => mavlink_alive && params.cached > 0 && !params.priming);
    await enrol(first);
    const keyId = (await stateOf(first)).key_id;
    await first.stop();
    const directory = join(state, 'signing');
    const [name = '', ...more] = await readdir(directory);
    expect(more).to.deep.equal([]);
    expect((await stat(join(directory, name))).mode & 0o777).to.equal(0o600);
    expect((await stat(directory)).mode & 0o777).to.equal(0o700);

    const second = await start();
    await second.until(({ params }) => params.cached > 0 && !params.priming);
    expect(await stateOf(second)).to.include({ signing: true, key_id: keyId });
    expect((await second.command('arm')).status).to.equal('accepted');
    expect((await second.command('disarm')).status).to.equal('accepted');
    expect(second.state?.problems).to.deep.equal([]);
    await second.until(({ guard }) => guard === false);
    await second.calls.signing_disable({ force: false });
    expect(await readdir(directory)).to.deep.equal([]);
    await second.stop();

    // One that others may read is not used.
    await writeFile(join(directory, name), '{}', { mode: 0o644 });
    const third = await start();
    await third.until(({ mavlink_alive }) => mavlink_alive);
    await third.stop();
    expect(third.stderr).to.include('is open to others than its owner');
    await removeDir(state);
  }).timeout(120_000);

  it('ground stations that do not sign reach the vehicle through the node, in MAVLink 1 and 2; their own signature stays', async () => {
    const port = await freePort();
    await using node = await met([`endpoints: ["tcp:127.0.0.1:${port}"]`]);
    const { link } = node;
    await enrol(link);
    const station = await GroundStation.tcp(port);
    let seq = 0;
    for (const wire of ['v2', 'v1'] as const) {
      for (const arm of [1, 0]) {
        const order = Object.assign(commandLong(400, arm), { targetSystem: 1 });
        station.send(encodeAs(order, wire, seq++, 255, 190));
        await link.until(({ armed }) => armed === (arm === 1));
      }
    }
    station.send(
      encodeAs(Object.assign(commandLong(400, 1), { targetSystem: 1 }), 'signed', seq++, 255, 190),
    );
    await link.nextState();
    station.close();
    expect(link.state?.armed).to.equal(false); // signed with another key: the vehicle refuses it
  }).timeout(120_000);

  it('or are told why not, where mavlink.sign_endpoints is off', async () => {
    const port = await freePort();
    await using node = await met([`endpoints: ["tcp:127.0.0.1:${port}"]`, 'sign_endpoints: false']);
    await enrol(node.link);
    const station = await GroundStation.tcp(port);
    station.send(encodeAs(Object.assign(commandLong(400, 1), { targetSystem: 1 }), 'v2', 0, 255, 190));
    expect(await station.told()).to.include('signed frames only');
    // The same holds for the node's own camera.
    await node.link.calls.camera({ camera: CAMERA });
    await station.hears(1, 100, 0);
    const ack = station.next(77);
    const picture = { targetSystem: 1, targetComponent: 100, _param3: 1 };
    station.send(encodeAs(Object.assign(commandLong(2000), picture), 'v2', 1, 255, 190));
    expect((await ack).payload[2]).to.equal(2); // denied
    station.close();
    expect(node.link.state?.armed).to.equal(false);
    expect((await node.link.command('arm')).status).to.equal('accepted');
  }).timeout(120_000);

  it('J12 a vehicle that does not take the key: an error after 5 s, nothing is signed, the vehicle is still heard', async () => {
    await using node = await met('--refuse-signing');
    const { link } = node;
    expect(await refusal(enrol(link))).to.equal('E_UPSTREAM');
    expect(await stateOf(link)).to.include({ signing: false, key_id: null });
    expect((await link.command('arm')).status).to.equal('accepted');
    expect((await link.until(({ statustext }) => statustext.length > 0)).mavlink_alive).to.equal(true);
  }).timeout(120_000);

  it('J12 a wrong key for a vehicle that signs already: refused, and signing is as it was', async () => {
    await using node = await met('--signing-key', OTHER);
    const { link } = node;
    expect(await refusal(enrol(link))).to.equal('E_UPSTREAM');
    expect((await stateOf(link)).signing).to.equal(false);
    await enrol(link, OTHER);
    expect((await link.command('arm')).status).to.equal('accepted');
  }).timeout(120_000);

  it('J12 a key of zeros, an armed vehicle, a second enrolment meanwhile: refused before anything is sent', async () => {
    await using node = await met();
    const { link } = node;
    expect(await refusal(enrol(link, '00'.repeat(32)))).to.equal('E_INVALID_VALUE');
    const [one, two] = await Promise.all([refusal(enrol(link)), refusal(enrol(link))]);
    expect([one, two]).to.have.members(['no refusal', 'E_RATE_LIMITED']);
    expect((await link.command('arm')).status).to.equal('accepted');
    await link.until(({ armed }) => armed === true);
    expect(await refusal(enrol(link, OTHER))).to.equal('E_ARMED');
    expect(await refusal(link.calls.signing_disable({ force: false }))).to.equal('E_ARMED');
  });

  it('disabled: the vehicle sends unsigned frames, and so do we', async () => {
    await using node = await met();
    const { link } = node;
    await enrol(link);
    await link.calls.signing_disable({ force: false });
    expect(await stateOf(link)).to.include({ signing: false, key_id: null });
    const { tx_signed_count: signed } = (await stateOf(link)).counters;
    expect((await link.command('arm')).status).to.equal('accepted');
    expect((await stateOf(link)).counters.tx_signed_count).to.equal(signed);
  });

  it('PX4 keeps no key: said, and refused', async () => {
    await using node = await met('--firmware', 'px4');
    const { link } = node;
    expect((await stateOf(link)).capability).to.include({
      supported: false,
      reason: 'firmware_px4_no_persistent_store',
    });
    expect(await refusal(enrol(link))).to.equal('E_NOT_IMPLEMENTED');
  });
});
