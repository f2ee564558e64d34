import { expect } from 'chai';
import type { ApiError } from '../../shared/errors.ts';
import type { SigningState } from '../../shared/ipc/link-protocol.ts';
import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';

const KEY = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

const enrol = async (link: LinkProcess, key = KEY, force = false): Promise<Record<string, unknown>> =>
  (await link.call('signing_enrol', { key_hex: key, link_id: 3, force })) as Record<string, unknown>;
const stateOf = async (link: LinkProcess): Promise<SigningState> =>
  (await link.call('signing')) as SigningState;
const refusal = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no refusal',
    ({ code }: ApiError) => code,
  );

async function met(...args: string[]): Promise<{ sim: SimProcess; link: LinkProcess } & AsyncDisposable> {
  const sim = await SimProcess.start(...args);
  const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`);
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

  it('a restarted link is not heard until the same key is enrolled again; another key replaces it', async () => {
    await using node = await met('--signing-key', KEY);
    const { link } = node;
    expect((await stateOf(link)).signing).to.equal(false);
    expect((await link.command('arm')).status).to.equal('no_ack');
    await enrol(link);
    await link.until(({ params: { cached, priming } }) => cached > 0 && !priming);
    expect((await link.command('arm')).status).to.equal('accepted');
    expect((await link.command('disarm')).status).to.equal('accepted');
    await link.until(({ armed }) => armed === false);
    const first = (await stateOf(link)).key_id;
    await enrol(link, OTHER);
    expect((await stateOf(link)).key_id).to.not.equal(first);
    expect((await link.command('arm')).status).to.equal('accepted');
  }).timeout(30_000);

  it('J12 a vehicle that does not take the key: an error after 5 s, nothing is signed, the vehicle is still heard', async () => {
    await using node = await met('--refuse-signing');
    const { link } = node;
    expect(await refusal(enrol(link))).to.equal('E_UPSTREAM');
    expect(await stateOf(link)).to.include({ signing: false, key_id: null });
    expect((await link.command('arm')).status).to.equal('accepted');
    expect((await link.until(({ statustext }) => statustext.length > 0)).mavlink_alive).to.equal(true);
  }).timeout(30_000);

  it('J12 a wrong key for a vehicle that signs already: refused, and signing is as it was', async () => {
    await using node = await met('--signing-key', OTHER);
    const { link } = node;
    expect(await refusal(enrol(link))).to.equal('E_UPSTREAM');
    expect((await stateOf(link)).signing).to.equal(false);
    await enrol(link, OTHER);
    expect((await link.command('arm')).status).to.equal('accepted');
  }).timeout(30_000);

  it('J12 a key of zeros, an armed vehicle, a second enrolment meanwhile: refused before anything is sent', async () => {
    await using node = await met();
    const { link } = node;
    expect(await refusal(enrol(link, '00'.repeat(32)))).to.equal('E_INVALID_VALUE');
    const [one, two] = await Promise.all([refusal(enrol(link)), refusal(enrol(link))]);
    expect([one, two]).to.have.members(['no refusal', 'E_RATE_LIMITED']);
    expect((await link.command('arm')).status).to.equal('accepted');
    await link.until(({ armed }) => armed === true);
    expect(await refusal(enrol(link, OTHER))).to.equal('E_ARMED');
    expect(await refusal(link.call('signing_disable', { force: false }))).to.equal('E_ARMED');
  });

  it('disabled: the vehicle sends unsigned frames, and so do we', async () => {
    await using node = await met();
    const { link } = node;
    await enrol(link);
    await link.call('signing_disable', { force: false });
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
